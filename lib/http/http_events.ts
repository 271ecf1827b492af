import type { HttpError } from "./http_error.ts";

/**
 * A client's current state and totals.
 * @example Count what a burst took
 * ```ts
 * import { HttpClient, type HttpClientStats } from "@millrace/streams/http";
 *
 * const client = new HttpClient();
 * for (const id of [1, 2, 3]) await (await client.fetch(`https://api.example.com/users/${id}`)).text();
 * const stats: HttpClientStats = client.stats();
 * console.log(stats.requests, stats.retries); // 3 0
 * await client.close();
 * ```
 */
export interface HttpClientStats extends Omit<HttpOriginStats, "origin" | "proxy" | "protocol"> {
  /** Requests ever made, redirects and retries not counted. */
  requests: number;
  /** Attempts beyond a request's first. */
  retries: number;
  /** Each origin that the client knows. */
  origins: HttpOriginStats[];
}

/**
 * A client's current state at one origin.
 * @example Tell which origins speak HTTP/2
 * ```ts
 * import { HttpClient, type HttpOriginStats } from "@millrace/streams/http";
 *
 * const client = new HttpClient();
 * await (await client.fetch("https://api.example.com/users/1")).text();
 * const told = ({ origin, protocol, connections }: HttpOriginStats) => `${origin}: ${connections} of ${protocol}`;
 * for (const origin of client.stats().origins) console.log(told(origin)); // …: 1 of …
 * await client.close();
 * ```
 */
export interface HttpOriginStats {
  /** Connections that are open. */
  connections: number;
  /** Open connections that speak HTTP/2. */
  sessions: number;
  /** Connections that are being made. */
  connecting: number;
  /** Requests under way: sent, and not yet ended with the last byte of their response. */
  active: number;
  /** Requests that wait for a connection. */
  queued: number;
  /** The origin: scheme, host and port. */
  origin: string;
  /** The proxy that its connections go by: scheme, host and port, or undefined. An origin is listed once for each. */
  proxy: string | undefined;
  /** The protocol it spoke last; undefined if that is not known yet. */
  protocol: "h2" | "http/1.1" | undefined;
}

/**
 * An event that a client reports to {@link HttpClientOptions.onEvent}. `type` says which it is; `Extract` gives the type of one of them.
 * @example A log of everything
 * ```ts
 * import { HttpClient, type HttpClientEvent } from "@millrace/streams/http";
 *
 * const log: string[] = [];
 * const client = new HttpClient({ onEvent: ({ type }: HttpClientEvent) => void log.push(type) });
 * await (await client.fetch("https://api.example.com/users/1")).text();
 * await client.close();
 * console.log(log.join(" ")); // connect request response disconnect
 * ```
 */
export type HttpClientEvent =
  | {
    /** A connection was made. */
    type: "connect";
    /** The origin that the connection is for. */
    origin: string;
    /** The proxy that it goes by: scheme, host and port, or undefined. */
    proxy: string | undefined;
    /** The protocol spoken on it. */
    protocol: "h2" | "http/1.1";
    /** The address of the server, or of its proxy; undefined over a Unix socket and where a stream of yours does not tell. */
    remoteAddress: string | undefined;
    /** The duration of TCP, the proxy's answer and TLS, in ms. */
    ms: number;
  }
  | {
    /** A connection was not made. */
    type: "connectFailed";
    origin: string;
    /** The proxy that it was to go by: scheme, host and port, or undefined. */
    proxy: string | undefined;
    /** The reason of the failure. */
    error: unknown;
  }
  | {
    /** A connection has ended. */
    type: "disconnect";
    origin: string;
    protocol: "h2" | "http/1.1";
    /** The reason of the close; undefined if one side just closed it. */
    error: HttpError | undefined;
  }
  | {
    /** A request goes out: for the first time, again, or after a redirect. */
    type: "request";
    /** The request's method. */
    method: string;
    /** The request's URL. */
    url: string;
    protocol: "h2" | "http/1.1";
    /** The time that it waited for a connection, in ms. */
    queuedMs: number;
  }
  | {
    /** The head of a final response is there. */
    type: "response";
    method: string;
    url: string;
    /** The response's status. */
    status: number;
    /** Since the request went out, in ms. */
    ms: number;
  }
  | {
    /** A request is sent again. */
    type: "retry";
    method: string;
    url: string;
    /** Counts from 1. */
    attempt: number;
    /** The error that ended the attempt before; undefined if it was answered. */
    error: unknown;
    /** The status that the attempt before was answered with, if that is why; see {@link HttpClientOptions.retryStatuses}. */
    status: number | undefined;
    /** The pause before this attempt, in ms. */
    ms: number;
  }
  | {
    /** A request, the body of its response, or the rest of its own after an early response, has failed for good. */
    type: "failed";
    method: string;
    url: string;
    /** The reason of the failure. */
    error: unknown;
  };
