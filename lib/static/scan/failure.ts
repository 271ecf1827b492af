import { reasonOf as systemReasonOf } from "../../files/internal.ts";

/** The meanings of error codes for a file that was there a moment ago, and is opened without following links. */
const ofFoundFile: Readonly<Record<string, string>> = {
  ENOENT: "it is gone, or its name is not UTF-8",
  ELOOP: "it is a loop of symbolic links, or has become a link",
};
const wayOut: Readonly<Record<string, string>> = { EMFILE: "raise the limit (ulimit -n)" };

/** Returns the reason for which the file system refused, in plain words. */
export function reasonOf(error: unknown): string {
  return systemReasonOf(error, ofFoundFile, wayOut);
}
