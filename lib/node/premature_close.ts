/** An error of a stream whose other end went away, with the code that `node:stream` gives it. */
export function prematureClose(message: string, cause: unknown): Error {
  const error = cause ? new Error(message, { cause }) : new Error(message);
  return Object.assign(error, { code: "ERR_STREAM_PREMATURE_CLOSE" });
}

/** A reason as an error to destroy a stream with: without one, http2 would tell the other end that all is well. */
export function toError(reason: unknown, message: string): Error {
  return reason instanceof Error ? reason : new Error(message, { cause: reason });
}
