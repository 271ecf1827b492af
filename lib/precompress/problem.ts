/**
 * A file that could not be handled, and why.
 *
 * @example Fail a build that left something out
 * ```ts
 * import { precompress, type Problem } from "@millrace/streams/precompress";
 * import { writeFile } from "node:fs/promises";
 *
 * await writeFile("dist/index.html.gz", "somebody's notes");
 * const { problems } = await precompress("dist", { formats: ["gzip"] });
 * const told = ({ path, message }: Problem): string => `${path}: ${message}`;
 * console.log(told(problems[0])); // index.html.gz: it is in the way and not made from index.html: …
 * ```
 */
export interface Problem {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** What went wrong and what to do about it. */
  readonly message: string;
}

/** The message for a file that is not what it was a moment ago. */
export const CHANGED = "it changed during the run: run again once the folder is at rest";

const advice: Readonly<Record<string, string>> = {
  EACCES: "permission denied: change its permissions or exclude it",
  EPERM: "permission denied: change its permissions or exclude it",
  ENOENT: "it vanished during the run: run again once the folder is at rest",
  ENOSPC: "no space left on the device: free some and run again",
  EDQUOT: "the disk quota is used up: free some and run again",
  EROFS: "the file system is read-only: write elsewhere with --out",
  ELOOP: "it is part of a loop of symbolic links: remove the link or exclude it",
  EMFILE: "too many open files: raise the limit (ulimit -n) and run again",
  ENOTDIR: "a file is in the way of a folder: remove it and run again",
  EEXIST: "a file is in the way of a folder: remove it and run again",
  EISDIR: "a folder is in the way: remove it and run again",
  ENAMETOOLONG: "its name is too long for the file system: shorten or exclude it",
};

/** What to tell the user about `error`. */
export function explain(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === "string" && Object.hasOwn(advice, code)) return advice[code]!;
  return error instanceof Error ? error.message : String(error);
}

/** The error of a run whose folder cannot be written to. */
export function cannotWrite(folder: string, cause: unknown): Error {
  return new Error(`cannot write to ${folder}: ${explain(cause)}`, { cause });
}
