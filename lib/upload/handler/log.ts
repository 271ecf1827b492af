/**
 * The log entry of a request.
 *
 * @example A line for each request
 * ```ts
 * import { createUploadHandler, type UploadLogEntry } from "@millrace/streams/upload";
 *
 * function log({ method, path, status, bytes }: UploadLogEntry): void {
 *   console.log(method, path, status, bytes); // PUT /note.txt 201 9
 * }
 * const uploads = createUploadHandler({ directory: "uploads", log });
 * await uploads.fetch(new Request("http://localhost/note.txt", { method: "PUT", body: "all of it" }));
 * ```
 */
export interface UploadLogEntry {
  /** The method of the request. */
  readonly method: string;
  /** The path of its URL, as it came, without the query. */
  readonly path: string;
  /** The status of the answer; 499 if the sender left before there was one. */
  readonly status: number;
  /** Bytes of the body that were received, also if nothing of it was kept. */
  readonly bytes: number;
  /** From the request's header to the answer. */
  readonly ms: number;
  /** Why it was refused, or failed. Unlike the answer, it may tell paths. */
  readonly error?: unknown;
}

/** Prints a warning if a request failed on the server, or its sender left before a response. */
export function warnOfFailures({ method, path, status, bytes, ms, error }: UploadLogEntry): void {
  if (status < 499) return;
  const why = error instanceof Error ? error.message : String(error);
  // What is quoted has no line ends.
  console.warn(`${method} ${path} ${status} after ${Math.round(ms)} ms and ${bytes} bytes: ${JSON.stringify(why)}`);
}

/** Tells `log`; whatever that does, requests go on. */
export function tell(log: (entry: UploadLogEntry) => unknown, entry: UploadLogEntry): void {
  const onFailure = (error: unknown): void => console.warn("log() of the upload handler failed:", error);
  try {
    const telling = log(entry);
    if (telling instanceof Promise) telling.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
