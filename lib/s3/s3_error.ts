/**
 * The code of an {@linkcode S3Error}: the store's own (`NoSuchKey`, `AccessDenied`, `SlowDown`), or one in capitals for a
 * failure that no answer names, of which the page has a table.
 *
 * @example Tell a store that cannot be reached from one that refuses
 * ```ts
 * import type { S3ErrorCode } from "@millrace/streams/s3";
 *
 * const passing: readonly S3ErrorCode[] = ["CONNECTION_FAILED", "TIMEOUT", "SlowDown"];
 * console.log(passing.includes("AccessDenied")); // false
 * ```
 */
export type S3ErrorCode =
  | "CONNECTION_FAILED"
  | "TIMEOUT"
  | "MALFORMED_RESPONSE"
  | "CHECKSUM_MISMATCH"
  | "OBJECT_CHANGED"
  | "CLOSED"
  // deno-lint-ignore ban-types
  | (string & {});

/**
 * The error of a failed request to a store, after all retries.
 *
 * @example Print the reason of a failure
 * ```ts
 * import { S3Bucket, S3Error } from "@millrace/streams/s3";
 *
 * const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
 * const bucket = new S3Bucket({ endpoint: "http://127.0.0.1:2", bucket: "films", credentials, retries: 0 });
 * try {
 *   await bucket.put("a.mp4", "the film");
 * } catch (error) {
 *   if (error instanceof S3Error) console.log(error.code, error.key); // CONNECTION_FAILED a.mp4
 * }
 * ```
 */
export class S3Error extends Error {
  /** The reason, for programs. */
  readonly code: S3ErrorCode;
  /** The HTTP status, if there was a response: that of the code, if the store reported it after a 200. */
  readonly status: number | undefined;
  /** The store's id of the request, which its operators can look up. */
  readonly requestId: string | undefined;
  /** The key of the object, if the request was about one. */
  readonly key: string | undefined;

  /** Creates an error with a code, a message, and the response's data. */
  constructor(
    code: S3ErrorCode,
    message: string,
    options: ErrorOptions & Partial<Pick<S3Error, "status" | "requestId" | "key">> = {},
  ) {
    super(message, options);
    this.name = "S3Error";
    this.code = code;
    this.status = options.status;
    this.requestId = options.requestId;
    this.key = options.key;
  }
}
