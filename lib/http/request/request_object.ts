import { HttpError } from "../http_error.ts";
import type { HttpRequest } from "../http_interceptor.ts";
import { checkedSignal, isRequest, unreadBody } from "./fetch_request.ts";
import { checkedNumber } from "./request_limits.ts";
import type { HttpRequestInit } from "./http_request_init.ts";
import { keepContent } from "./request_content.ts";

/**
 * Makes one object of what fetch was called with. Takes nothing of a body.
 *
 * @throws {HttpError} INVALID_BODY, INVALID_HEADER or INVALID_OPTION if it has members that nobody can have.
 */
export function requestObject(input: string | URL | Request, init: HttpRequestInit | undefined): HttpRequest {
  const { intercept: _, ...members } = init ?? {};
  checkedNumber("timeout", members.timeout);
  checkedSignal(members.signal ?? undefined);
  if (!isRequest(input)) {
    return { ...members, url: String(input), method: init?.method ?? "GET", headers: headersOf(init?.headers) };
  }
  const { url, method, headers, redirect, signal, integrity } = input;
  const body = members.body ?? input.body;
  if (body !== null && body === input.body) keepContent(unreadBody(input)!);
  return {
    ...members,
    redirect: members.redirect ?? redirect,
    signal: members.signal === undefined ? signal : members.signal,
    integrity: members.integrity ?? integrity,
    body,
    url,
    method: members.method ?? method,
    headers: headersOf(members.headers ?? headers),
  };
}

function headersOf(given: HttpRequestInit["headers"]): Headers {
  try {
    return new Headers(given as HeadersInit | undefined);
  } catch (cause) {
    throw new HttpError("INVALID_HEADER", `The headers cannot be sent: ${(cause as Error).message}`, { cause });
  }
}
