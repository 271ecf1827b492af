import type { Readable } from "node:stream";
import { UploadError } from "./upload_error.ts";

/** The failure of a body whose sender went away. */
export function leftError(cause: unknown): UploadError {
  return new UploadError("ABORTED", "The sender left before the end of the body", cause ? { cause } : undefined);
}

/** Whether the sender of a request is known to have gone away: what was its body then is over, whoever read of it. */
export function hasLeft(request: Readable): boolean {
  const { aborted, stream } = request as { aborted?: boolean; stream?: { aborted?: boolean } };
  return aborted === true || stream?.aborted === true;
}
