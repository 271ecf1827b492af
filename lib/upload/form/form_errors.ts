import { UploadError } from "../body/upload_error.ts";

/** The failure of a form that is not what RFC 7578 says. */
export function malformed(words: string, cause?: unknown): UploadError {
  return new UploadError("MALFORMED", `The form is malformed: ${words}`, cause === undefined ? undefined : { cause });
}

/** The failure of a form that has more of `what` than the option `limit` allows. */
export function tooLarge(what: string, value: number, unit: string, limit: string): UploadError {
  return new UploadError("TOO_LARGE", `${what} more than the ${value} ${unit} that are accepted (${limit})`);
}

/** A name as the sender gave it, for an error's message: quoted, and not endless. */
export function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
