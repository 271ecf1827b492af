import type { HeaderList } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { FetchRequest } from "./fetch_request.ts";
import { type RequestTarget, shownUrl, targetOfUrl } from "./request_target.ts";

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const contentFields = new Set(
  "content-encoding content-language content-location content-type expect trailer".split(" "),
);
const secretFields = new Set(["authorization", "cookie", "proxy-authorization"]);

/**
 * Returns the request to which a response redirects; undefined if there is none, or redirects are not followed.
 * @param location The Location field's value, as received.
 * @throws {HttpError} REDIRECT_FAILED if it cannot be followed, or must not be.
 * @see {@link https://fetch.spec.whatwg.org/#concept-http-redirect-fetch}
 */
export function redirected(
  request: FetchRequest,
  status: number,
  location: string | undefined,
): FetchRequest | undefined {
  if (!REDIRECTS.has(status) || request.redirect === "manual") return undefined;
  if (request.redirect === "error") {
    throw failed(request, `The server answered ${status}, a redirect, and redirect is "error"`);
  }
  if (location === undefined) return undefined;
  const target = targetAt(request, status, location);
  const { method } = request;
  const losesBody = ((status === 301 || status === 302) && method === "POST") ||
    (status === 303 && method !== "GET" && method !== "HEAD");
  if (!losesBody && request.body !== undefined && !request.body.replayable) {
    const advice = "send bytes or a Blob, or follow it yourself";
    const message = `The server answered ${status}, and the body cannot be sent again: it is a stream; ${advice}`;
    throw failed(request, message);
  }
  const staysHome = target.origin === request.origin;
  let { headers } = request;
  if (losesBody) headers = without(headers, contentFields);
  if (!staysHome) headers = without(headers, secretFields);
  const idempotent = request.saidIdempotent ?? (losesBody || request.idempotent);
  return {
    ...request,
    ...target,
    alone: !idempotent,
    method: losesBody ? "GET" : method,
    headers,
    body: losesBody ? undefined : request.body,
    trailers: losesBody ? undefined : request.trailers,
    expectsContinue: !losesBody && request.expectsContinue,
    idempotent,
  };
}

function targetAt(request: FetchRequest, status: number, given: string): RequestTarget {
  // Servers send UTF-8 beyond ASCII, while a field's value has one code unit a byte.
  const bytes = Uint8Array.from(given, (character) => character.charCodeAt(0));
  const location = /[\x80-\xff]/.test(given) ? new TextDecoder().decode(bytes) : given;
  try {
    const url = new URL(location, request.url);
    if (url.hash === "") url.hash = request.url.hash;
    return targetOfUrl(url);
  } catch (error) {
    const message = `The server answered ${status}, a redirect to ${shownUrl(location)}, where nothing can be fetched`;
    // The URL parser's own error may show a password.
    throw failed(request, message, error instanceof HttpError ? error : undefined);
  }
}

function without(headers: HeaderList, names: ReadonlySet<string>): HeaderList {
  return headers.filter((_, at) => !names.has(headers[at & ~1]));
}

function failed({ origin }: FetchRequest, message: string, cause?: unknown): HttpError {
  return new HttpError("REDIRECT_FAILED", message, { origin, cause });
}
