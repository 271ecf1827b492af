import { HttpError } from "../http_error.ts";
import { type ConnectionFault, ENHANCE_YOUR_CALM, errorName, Http2ErrorCause } from "./error_codes.ts";

/** The server gave a request up (RST_STREAM), or refused it without acting on it. */
export function resetError(origin: string, code: number, isUntouched: boolean): HttpError {
  const words = isUntouched
    ? `the server refused the request without acting on it (${errorName(code)})`
    : `the server gave the request up (${errorName(code)})`;
  return new HttpError(isUntouched ? "REFUSED" : "RESET", words, { origin, cause: new Http2ErrorCause(code, words) });
}

/**
 * The server said in GOAWAY that it has not looked at a request, and will not.
 *
 * @param debug The debug data that came with it.
 */
export function goawayError(origin: string, code: number, debug: string): HttpError {
  const said = debug === "" ? errorName(code) : `${errorName(code)}, ${JSON.stringify(debug)}`;
  const words = `the server closes the connection (${said}), and did not act on the request`;
  return new HttpError("REFUSED", words, { origin, cause: new Http2ErrorCause(code, words) });
}

/** A response breaks the rules, or our limits. */
export function responseError(origin: string, code: number, message: string, isTooLarge: boolean): HttpError {
  const words = `the server's response cannot be used: ${message}`;
  const cause = new Http2ErrorCause(code, words);
  return new HttpError(isTooLarge ? "LIMIT_EXCEEDED" : "PROTOCOL_ERROR", words, { origin, cause });
}

/** The whole connection breaks the rules, or our limits. */
export function faultError(origin: string, fault: ConnectionFault): HttpError {
  const code = fault.number === ENHANCE_YOUR_CALM ? "LIMIT_EXCEEDED" : "PROTOCOL_ERROR";
  return new HttpError(code, fault.message, { origin, cause: fault });
}
