import type { HttpError } from "./http_error.ts";

/** What a client tells of its work to {@link HttpClientOptions.onEvent}. `type` says which it is. */
export type HttpClientEvent =
  | HttpConnectEvent
  | HttpConnectFailedEvent
  | HttpDisconnectEvent
  | HttpRequestEvent
  | HttpResponseEvent
  | HttpRetryEvent
  | HttpFailedEvent;

/** A connection was made. */
export interface HttpConnectEvent {
  /** Which event it is. */
  type: "connect";
  /** The origin that the connection is for. */
  origin: string;
  /** What is spoken on it. */
  protocol: "h2" | "http/1.1";
  /** The server's address. */
  remoteAddress: string | undefined;
  /** How long TCP and TLS took, in ms. */
  ms: number;
}

/** A connection was not made. */
export interface HttpConnectFailedEvent {
  /** Which event it is. */
  type: "connectFailed";
  /** The origin that the connection is for. */
  origin: string;
  /** Why. */
  error: unknown;
}

/** A connection has ended. */
export interface HttpDisconnectEvent {
  /** Which event it is. */
  type: "disconnect";
  /** The origin that the connection is for. */
  origin: string;
  /** What is spoken on the connection. */
  protocol: "h2" | "http/1.1";
  /** Why, unless one side just closed it. */
  error: HttpError | undefined;
}

/** A request goes out: for the first time, again, or after a redirect. */
export interface HttpRequestEvent {
  /** Which event it is. */
  type: "request";
  /** The request's method. */
  method: string;
  /** The request's URL. */
  url: string;
  /** What is spoken on the connection. */
  protocol: "h2" | "http/1.1";
  /** How long it waited for a connection, in ms. */
  queuedMs: number;
}

/** The head of a final response is there. */
export interface HttpResponseEvent {
  /** Which event it is. */
  type: "response";
  /** The request's method. */
  method: string;
  /** The request's URL. */
  url: string;
  /** The response's status. */
  status: number;
  /** Since the request went out, in ms. */
  ms: number;
}

/** A request is sent again. */
export interface HttpRetryEvent {
  /** Which event it is. */
  type: "retry";
  /** The request's method. */
  method: string;
  /** The request's URL. */
  url: string;
  /** Counts from 1. */
  attempt: number;
  /** Why the attempt before did not do. */
  error: unknown;
}

/** A request, or the body of its response, has failed for good. */
export interface HttpFailedEvent {
  /** Which event it is. */
  type: "failed";
  /** The request's method. */
  method: string;
  /** The request's URL. */
  url: string;
  /** Why. */
  error: unknown;
}
