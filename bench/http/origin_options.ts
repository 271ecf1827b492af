/** The protocols, limits and delays of an origin. */
export interface OriginOptions {
  /** The protocols ALPN offers, best first; without TLS, the first one is used. */
  readonly protocols: readonly ("h2" | "http/1.1")[];
  readonly secure: boolean;
  /** SETTINGS_MAX_CONCURRENT_STREAMS. More are refused (REFUSED_STREAM). */
  readonly streams: number;
  /** Milliseconds from the end of a request to its answer. */
  readonly delay: number;
  /** The size of the body of every answer. */
  readonly bytes: number;
}

/** The traffic an origin saw since its figures were last read. */
export interface Traffic {
  /** Accepted, with ALPN done. */
  sockets: number;
  requests: number;
  /** Streams that were more than the origin allows. */
  refused: number;
  /** The maximum number of concurrent requests in one session. */
  peakStreams: number;
  /** Bytes of requests' bodies. */
  received: number;
}

/** A question to the origins' process: to open an origin, or for the traffic at a port. */
export type OriginQuestion = { readonly open: OriginOptions } | { readonly trafficOf: number };

/** The answer to an opened one. */
export interface Opened {
  readonly port: number;
}

/** The response to `trafficOf`; CPU seconds are those of the process since its start. */
export interface Seen extends Traffic {
  readonly cpu: number;
}
