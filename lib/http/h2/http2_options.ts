import type { Connection } from "../exchange.ts";

/** How a session is to be; times in ms, 0 for never. */
export interface Http2Options {
  /** For errors. */
  readonly origin: string;
  /** Requests at a time; the server's SETTINGS may allow fewer. */
  readonly maxConcurrentStreams: number;
  /** Bytes that the server may send of a response nobody reads: SETTINGS_INITIAL_WINDOW_SIZE. */
  readonly streamWindow: number;
  /** Bytes of a response's head: SETTINGS_MAX_HEADER_LIST_SIZE. */
  readonly maxHeaderSize: number;
  /** Silence with requests under way after which a PING is sent. */
  readonly pingInterval: number;
  /** For its answer. */
  readonly pingTimeout: number;
  /** After which a session without requests is closed. */
  readonly idleTimeout: number;
  /** Requests at a time until the server's SETTINGS come. Default: 1. */
  readonly allowedAtFirst?: number;
  /** The first stream's id, for tests of what happens at the last. Default: 1. */
  readonly firstStream?: number;
}

/** An HTTP/2 connection to a server. */
export interface Http2Session extends Connection {
  /** The limit in the server's SETTINGS; Infinity if they set none, and undefined before they came. */
  readonly peerMaxConcurrentStreams: number | undefined;
  /** How many requests were started. */
  readonly streamsOpened: number;
}
