import { HttpError } from "../http_error.ts";

/** Methods as they are given, and as they are sent. */
const sent = new Map<string, string>();
for (const method of ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]) {
  sent.set(method, method).set(method.toLowerCase(), method);
}

const idempotent = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"]);

/**
 * A method as it is sent: `get` and the five like it in upper case, others as they are.
 *
 * @throws {HttpError} INVALID_METHOD if it is no token, or CONNECT, TRACE or TRACK.
 * @see {@link https://fetch.spec.whatwg.org/#methods}
 */
export function checkedMethod(method: string): string {
  return sent.get(method) ?? checkedUnknown(`${method}`);
}

/**
 * Whether a method may be sent twice with the effect of once.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2}
 */
export function isIdempotent(method: string): boolean {
  return idempotent.has(method);
}

function checkedUnknown(method: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(method)) {
    throw new HttpError("INVALID_METHOD", `The method ${JSON.stringify(method)} is no token: use letters, as in GET`);
  }
  const upper = method.toUpperCase();
  if (upper === "CONNECT" || upper === "TRACE" || upper === "TRACK") {
    throw new HttpError(
      "INVALID_METHOD",
      `The method ${method} cannot be fetched: fetch forbids CONNECT, TRACE and TRACK`,
    );
  }
  return sent.get(upper) ?? method;
}
