import { UploadError } from "./upload_error.ts";

/** The failure of a body whose sender went away. */
export function leftError(cause: unknown): UploadError {
  return new UploadError("ABORTED", "The sender left before the end of the body", cause ? { cause } : undefined);
}
