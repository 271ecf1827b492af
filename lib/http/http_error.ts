/**
 * The reason why a request failed:
 *
 * | code | |
 * |---|---|
 * | `INVALID_URL` | the URL cannot be parsed, has another scheme than http, https, data and blob, stands for nothing (data, blob), names a port that fetch forbids, or has a user name or password |
 * | `INVALID_METHOD` | the method is no token, or one that fetch does not send (CONNECT, TRACE, TRACK) |
 * | `INVALID_HEADER` | a header's name or value cannot be sent, or contradicts the body |
 * | `INVALID_BODY` | the body cannot be sent: locked, used, of a wrong type, with GET or HEAD |
 * | `INVALID_OPTION` | another member of `init` has a value that is not supported, or the function `proxy` gave none |
 * | `ADDRESS_REFUSED` | `allowAddress` allows none of the host's addresses, or a proxy alone will know them |
 * | `DNS_FAILED` | the host's name was not resolved |
 * | `CONNECTION_REFUSED` | nothing listens there, or the network does not lead there |
 * | `CONNECT_TIMEOUT` | no connection, by way of the proxy and with TLS if there is to be, within `connectTimeout` |
 * | `CERTIFICATE_EXPIRED` | the server's certificate is not valid now |
 * | `CERTIFICATE_HOST_MISMATCH` | the server's certificate is for other names |
 * | `CERTIFICATE_UNTRUSTED` | nobody whom we trust signed the server's certificate |
 * | `TLS_FAILED` | the TLS handshake failed otherwise, or the client certificate was refused |
 * | `PROXY_AUTHENTICATION` | the proxy asks for a user name and password, or for others |
 * | `PROXY_REFUSED` | the proxy did not connect to the server |
 * | `CONNECTION_LOST` | the connection ended before the response did |
 * | `CONNECTION_STALE` | a peer that answered no PING; the connection is given up |
 * | `PROTOCOL_ERROR` | what the server sent is not HTTP as the standards have it |
 * | `LIMIT_EXCEEDED` | a header or another thing that the server sent is larger than our limits |
 * | `REFUSED` | the server refused the request without acting on it, and so it did when it was sent again |
 * | `RESET` | the server gave the request up (RST_STREAM) |
 * | `TIMEOUT` | the request took longer than `timeout` as a whole |
 * | `QUEUE_TIMEOUT` | no connection for the request within `queueTimeout` |
 * | `HEADERS_TIMEOUT` | no response headers within `headersTimeout` |
 * | `BODY_TIMEOUT` | no byte of the response's body within `bodyTimeout` |
 * | `BODY_FAILED` | the request's body broke while it was sent |
 * | `DECODING_FAILED` | the response's body is not what Content-Encoding says |
 * | `INTEGRITY_MISMATCH` | the response's body is not what `integrity` says |
 * | `REDIRECT_FAILED` | a redirect that was not to be followed, leads nowhere, or was one too many |
 * | `CLIENT_CLOSED` | the client was closed or destroyed |
 *
 * @example Tell what is worth another try from what is not
 * ```ts
 * import { HttpClient, HttpError, type HttpErrorCode } from "@millrace/streams/http";
 *
 * const passing: readonly HttpErrorCode[] = ["CONNECTION_REFUSED", "CONNECT_TIMEOUT", "CONNECTION_LOST"];
 * const client = new HttpClient();
 * try {
 *   await client.fetch("http://127.0.0.1:2/");
 * } catch (error) {
 *   console.log(error instanceof HttpError && passing.includes(error.code)); // true
 * }
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
 * The options of an {@link HttpError} besides its message.
 *
 * @example An error for a test of one's own
 * ```ts
 * import { HttpError, type HttpErrorOptions } from "@millrace/streams/http";
 *
 * const options: HttpErrorOptions = { origin: "https://mill.example", cause: new Error("the river is low") };
 * const error = new HttpError("CONNECTION_LOST", "The mill stands still", options);
 * console.log(error.code, error instanceof TypeError, (error.cause as Error).message); // CONNECTION_LOST true the river is low
 * ```
 */
export interface HttpErrorOptions {
  /** The origin that the request was for. Default: none, as for a URL that cannot be parsed. */
  origin?: string | undefined;
  /** The underlying error. Default: an Error with the same message and code, so that `error.cause.code` is there too. */
  cause?: unknown;
}

/**
 * A request that failed, in the shape that users of fetch know: a `TypeError` with a `cause`. `code` is the same on every
 * runtime; `cause` is what the runtime said, with a code of its own (`ECONNREFUSED`, `CERT_HAS_EXPIRED`).
 *
 * @example Tell what happened
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
 *
 * @see {@link https://fetch.spec.whatwg.org/#concept-network-error}
 */
export class HttpError extends TypeError {
  /** The reason for the failure, as a code for programs. */
  readonly code: HttpErrorCode;
  /** The origin that the request was for, if it got so far. */
  readonly origin: string | undefined;

  /**
   * Makes an error.
   *
   * @param code The reason for the failure.
   * @param message The same in words.
   * @param options The origin and the cause.
   */
  constructor(code: HttpErrorCode, message: string, options: HttpErrorOptions = {}) {
    super(message, { cause: options.cause ?? Object.assign(new Error(message), { code }) });
    this.code = code;
    this.origin = options.origin;
  }
}

/** Makes the error of a request whose program took the memory of a chunk back before it was sent. */
export function takenBack(origin?: string): HttpError {
  const message = "A chunk of the request's body was detached or resized before it was sent: enqueue a copy of it";
  return new HttpError("BODY_FAILED", message, { origin });
}
