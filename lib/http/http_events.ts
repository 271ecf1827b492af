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
  type: "connect";
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
  type: "connectFailed";
  origin: string;
  error: unknown;
}

/** A connection has ended. */
export interface HttpDisconnectEvent {
  type: "disconnect";
  origin: string;
  protocol: "h2" | "http/1.1";
  /** Why, unless one side just closed it. */
  error: HttpError | undefined;
}

/** A request goes out: for the first time, again, or after a redirect. */
export interface HttpRequestEvent {
  type: "request";
  method: string;
  url: string;
  protocol: "h2" | "http/1.1";
  /** How long it waited for a connection, in ms. */
  queuedMs: number;
}

/** The head of a final response is there. */
export interface HttpResponseEvent {
  type: "response";
  method: string;
  url: string;
  status: number;
  /** Since the request went out, in ms. */
  ms: number;
}

/** A request is sent again. */
export interface HttpRetryEvent {
  type: "retry";
  method: string;
  url: string;
  /** Counts from 1. */
  attempt: number;
  /** Why the attempt before did not do. */
  error: unknown;
}

/** A request, or the body of its response, has failed for good. */
export interface HttpFailedEvent {
  type: "failed";
  method: string;
  url: string;
  error: unknown;
}

/** What a client is doing, and has done. */
export interface HttpClientStats {
  /** Connections that are open. */
  connections: number;
  /** Those of them that speak h2. */
  sessions: number;
  /** Connections that are being made. */
  connecting: number;
  /** Requests under way: sent, and not yet ended with the last byte of their response. */
  active: number;
  /** Requests that wait for a connection. */
  queued: number;
  /** Requests ever made, redirects and retries not counted. */
  requests: number;
  /** Attempts beyond a request's first. */
  retries: number;
  /** Each origin that the client knows. */
  origins: HttpOriginStats[];
}

/** The same of one origin. */
export interface HttpOriginStats {
  origin: string;
  /** What it spoke last; undefined if that is not known yet. */
  protocol: "h2" | "http/1.1" | undefined;
  connections: number;
  sessions: number;
  connecting: number;
  active: number;
  queued: number;
}
