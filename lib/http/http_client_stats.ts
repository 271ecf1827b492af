/** Connections and requests at a moment. */
export interface HttpCounts {
  /** Connections that are open. */
  connections: number;
  /** Those of them that speak HTTP/2. */
  sessions: number;
  /** Connections that are being made. */
  connecting: number;
  /** Requests under way: sent, and not yet ended with the last byte of their response. */
  active: number;
  /** Requests that wait for a connection. */
  queued: number;
}

/** What a client is doing, and has done. */
export interface HttpClientStats extends HttpCounts {
  /** Requests ever made, redirects and retries not counted. */
  requests: number;
  /** Attempts beyond a request's first. */
  retries: number;
  /** Each origin that the client knows. */
  origins: HttpOriginStats[];
}

/** What a client is doing at one origin. */
export interface HttpOriginStats extends HttpCounts {
  /** The origin: scheme, host and port. */
  origin: string;
  /** What it spoke last; undefined if that is not known yet. */
  protocol: "h2" | "http/1.1" | undefined;
}
