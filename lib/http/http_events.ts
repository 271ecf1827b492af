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
  /** The number of requests ever made, without redirects and retries. */
  requests: number;
  /** The number of retries ever made. */
  retries: number;
  /** The state at each origin that the client knows. */
  origins: HttpOriginStats[];
}

/**
 * A client's current state at one origin.
 * @example List the protocol of each origin
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
  /** The number of open connections. */
  connections: number;
  /** The number of open connections that speak HTTP/2. */
  sessions: number;
  /** The number of connections being opened. */
  connecting: number;
  /** The number of requests that were sent and have not ended; a request ends with the last byte of its response. */
  active: number;
  /** The number of requests that wait for a connection. */
  queued: number;
  /** The origin: scheme, host and port. */
  origin: string;
  /** The proxy of its connections: scheme, host and port, or undefined. An origin is listed once for each proxy. */
  proxy: string | undefined;
  /** The protocol of its latest connection; undefined if not known yet. */
  protocol: "h2" | "http/1.1" | undefined;
}

/**
 * An event that a client reports to {@link HttpClientOptions.onEvent}. `type` is its kind; `Extract` selects the type of one kind.
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
    /** A connection was opened. */
    type: "connect";
    /** The origin that the connection is for. */
    origin: string;
    /** The proxy of the connection: scheme, host and port, or undefined. */
    proxy: string | undefined;
    /** The protocol of the connection. */
    protocol: "h2" | "http/1.1";
    /** The address of the server, or of its proxy; undefined over a Unix socket, and if a user's stream does not have it. */
    remoteAddress: string | undefined;
    /** The duration of TCP, the proxy's response and TLS, in ms. */
    ms: number;
  }
  | {
    /** A connection could not be opened. */
    type: "connectFailed";
    origin: string;
    /** The proxy of the connection: scheme, host and port, or undefined. */
    proxy: string | undefined;
    /** The reason of the failure. */
    error: unknown;
  }
  | {
    /** A connection has ended. */
    type: "disconnect";
    origin: string;
    protocol: "h2" | "http/1.1";
    /** The reason of the close; undefined for a normal one. */
    error: HttpError | undefined;
  }
  | {
    /** A request is sent: for the first time, again, or after a redirect. */
    type: "request";
    /** The request's method. */
    method: string;
    /** The request's URL. */
    url: string;
    protocol: "h2" | "http/1.1";
    /** The time in ms that the request waited for a connection. */
    queuedMs: number;
  }
  | {
    /** The head of a final response has arrived. */
    type: "response";
    method: string;
    url: string;
    /** The response's status. */
    status: number;
    /** The time in ms since the request was sent. */
    ms: number;
  }
  | {
    /** A request is sent again. */
    type: "retry";
    method: string;
    url: string;
    /** The number of attempts so far, without those whose connection ended before anything was sent. */
    attempt: number;
    /** The error of the previous attempt; undefined if that got a response. */
    error: unknown;
    /** The status of the previous attempt, if that is the reason; see {@link HttpClientOptions.retryStatuses}. */
    status: number | undefined;
    /** The pause before this attempt, in ms. */
    ms: number;
  }
  | {
    /** A request, the body of its response, or the rest of its own body after an early response, has finally failed. */
    type: "failed";
    method: string;
    url: string;
    /** The reason of the failure. */
    error: unknown;
  };
