import { fileFailure } from "../files/internal.ts";
import { UploadError, type UploadErrorCode } from "./upload_error.ts";

/** What the system says that is the upload's fault, or answered like it. */
const codes: Readonly<Record<string, UploadErrorCode>> = {
  EDQUOT: "NO_SPACE",
  EEXIST: "EXISTS",
  EFBIG: "NO_SPACE",
  ENOSPC: "NO_SPACE",
};

/**
 * What the file system says of an upload, as the error that is told.
 *
 * @param action What failed, as in "Cannot write".
 * @param path The file's path, for errors that the sender does not see.
 * @param name What the file is called in errors that the sender sees.
 */
export function storageFailure(action: string, path: string, name: string, error: unknown): Error {
  const failure = fileFailure(action, name, error);
  const code = codes[String((failure as { code?: unknown }).code)];
  return code === undefined
    ? fileFailure(action, path, error)
    : new UploadError(code, failure.message, { cause: error });
}
