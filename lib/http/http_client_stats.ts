/**
 * Connections and requests at a moment.
 *
 * @example Wait until nothing is under way
 * ```ts
 * import { HttpClient, type HttpCounts } from "@millrace/streams/http";
 *
 * const isBusy = ({ active, queued, connecting }: HttpCounts): boolean => active + queued + connecting > 0;
 * const client = new HttpClient();
 * const pending = client.fetch("https://api.example.com/users/1");
 * console.log(isBusy(client.stats())); // true
 * await (await pending).text();
 * console.log(isBusy(client.stats())); // false
 * await client.close();
 * ```
 */
export interface HttpCounts {
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
}

/**
 * A client's current state and totals.
 *
 * @example Count what a burst took
 * ```ts
 * import { HttpClient, type HttpClientStats } from "@millrace/streams/http";
 *
 * const client = new HttpClient();
 * for (const id of [1, 2, 3]) await (await client.fetch(`https://api.example.com/users/${id}`)).text();
 * const stats: HttpClientStats = client.stats();
 * console.log(stats.requests, stats.connections, stats.retries); // 3 1 0
 * await client.close();
 * ```
 */
export interface HttpClientStats extends HttpCounts {
  /** Requests ever made, redirects and retries not counted. */
  requests: number;
  /** Attempts beyond a request's first. */
  retries: number;
  /** Each origin that the client knows. */
  origins: HttpOriginStats[];
}

/**
 * A client's current state at one origin.
 *
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
export interface HttpOriginStats extends HttpCounts {
  /** The origin: scheme, host and port. */
  origin: string;
  /** The proxy that its connections go by: scheme, host and port; undefined if there is none. An origin is listed once for each. */
  proxy: string | undefined;
  /** The protocol it spoke last; undefined if that is not known yet. */
  protocol: "h2" | "http/1.1" | undefined;
}
