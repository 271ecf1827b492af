/**
 * The reason why a request failed. The page of this subpath has a table of when each occurs, and what to do.
 * @example Recognise errors after which a retry may succeed
 * ```ts
 * import { HttpClient, type HttpErrorCode } from "@millrace/streams/http";
 *
 * const passing: readonly HttpErrorCode[] = ["CONNECTION_REFUSED", "CONNECT_TIMEOUT", "CONNECTION_LOST"];
 * const error = await new HttpClient().fetch("http://127.0.0.1:2/").catch((error) => error);
 * console.log(passing.includes(error.code)); // true
 * ```
 */
export type HttpErrorCode =
  | "INVALID_URL"
  | "INVALID_METHOD"
  | "INVALID_HEADER"
  | "INVALID_BODY"
  | "INVALID_OPTION"
  | "ADDRESS_REFUSED"
  | "DNS_FAILED"
  | "CONNECTION_REFUSED"
  | "CONNECT_TIMEOUT"
  | "CERTIFICATE_EXPIRED"
  | "CERTIFICATE_HOST_MISMATCH"
  | "CERTIFICATE_UNTRUSTED"
  | "TLS_FAILED"
  | "PROXY_AUTHENTICATION"
  | "PROXY_REFUSED"
  | "CONNECTION_LOST"
  | "CONNECTION_STALE"
  | "PROTOCOL_ERROR"
  | "LIMIT_EXCEEDED"
  | "REFUSED"
  | "RESET"
  | "TIMEOUT"
  | "QUEUE_TIMEOUT"
  | "HEADERS_TIMEOUT"
  | "BODY_TIMEOUT"
  | "BODY_FAILED"
  | "DECODING_FAILED"
  | "INTEGRITY_MISMATCH"
  | "REDIRECT_FAILED"
  | "CLIENT_CLOSED";

/**
 * The error of a failed request: a `TypeError` with a `cause`, like that of fetch. `code` is the same on every runtime; `cause` is the runtime's error, with its own code
 * (`ECONNREFUSED`, `CERT_HAS_EXPIRED`).
 * @example Print the reason of a failure
 * ```ts
 * import { HttpClient, HttpError } from "@millrace/streams/http";
 *
 * const client = new HttpClient();
 * try {
 *   await client.fetch("http://127.0.0.1:2/");
 * } catch (error) {
 *   if (error instanceof HttpError) console.log(error.code, error.origin); // CONNECTION_REFUSED http://127.0.0.1:2
 * }
 * ```
 * @see {@link https://fetch.spec.whatwg.org/#concept-network-error}
 */
export class HttpError extends TypeError {
  /** The reason for the failure, as a code for programs. */
  readonly code: HttpErrorCode;
  /** The origin of the request, if it is known. */
  readonly origin: string | undefined;

  /**
   * Creates an error.
   * @param code The reason for the failure.
   * @param message The reason in words.
   * @param options The request's origin, if known, and the underlying error. Default: an Error with the same message and code.
   */
  constructor(code: HttpErrorCode, message: string, options: { origin?: string | undefined; cause?: unknown } = {}) {
    const own = Object.assign(new Error(message), { code });
    super(message, { cause: options.cause ?? own });
    this.code = code;
    this.origin = options.origin;
    void [this.stack, own.stack]; // V8 keeps the called objects, and so the request with its body, until these texts are made
  }
}

/** Returns the error of a request whose program transferred the memory of a chunk before it was sent. */
export function takenBack(origin?: string): HttpError {
  const message = "A chunk of the request's body was detached or resized before it was sent: enqueue a copy of it";
  return new HttpError("BODY_FAILED", message, { origin });
}
