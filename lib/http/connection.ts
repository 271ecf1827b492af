import type { HttpError } from "./http_error.ts";

export interface ConnectTarget {
  readonly secure: boolean;
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A byte stream to a server, with or without TLS, as the connections use it. */
export interface Transport {
  /** The protocol that ALPN chose; undefined without TLS, or if the server chose none. */
  readonly alpnProtocol: string | undefined;
  /** The server's address, as the system has it; undefined if unknown. */
  readonly remoteAddress: string | undefined;
  readonly remotePort?: number | undefined;
  /** Whether written bytes are pending: the caller should wait for onDrain before it writes more. */
  readonly full: boolean;
  /** The number of written bytes that the system has not taken: destroy() loses them. Infinity once some are lost. */
  readonly waiting: number;
  /** Whether all written bytes are certainly sent or copied, so that their memory may be reused. */
  readonly empty: boolean;
  /** Sets the receiver of events. Called once, in the turn in which the transport was created; no event is lost before. */
  attach(events: TransportEvents): void;
  /**
   * Sends bytes in order; their memory belongs to the transport until it is `empty`. @param tells Whether onDrain is called once they are sent, even if it is not full.
   */
  write(bytes: Uint8Array, tells?: boolean): void;
  /** Stops onData until resume(), except for one call that may be pending. */
  pause(): void;
  resume(): void;
  /** Sets whether the pieces of one event loop turn are passed on as one, at its end at the latest. Default: false. */
  gather(gathers: boolean): void;
  /** Sends the written bytes, then the end; the peer's bytes still arrive. */
  end(): void;
  /** Ends the user's stream, which may buffer bytes, and destroys it after at most `ms` (0: no limit); destroys any other stream at once. */
  leave(ms: number): void;
  /** Destroys the socket at once. onClose follows later. */
  destroy(): void;
  /** Sets whether this connection keeps the process alive. Default: true. */
  keepProcess(alive: boolean): void;
}

/** The callbacks of a transport, never called within one of its own methods. */
export interface TransportEvents {
  /** Bytes, which the receiver may overwrite. @param isOwn Whether the chunk is all of its memory and may be transferred; default: false. */
  onData(chunk: Uint8Array, isOwn?: boolean): void;
  onDrain(): void;
  onEnd(): void;
  /** The socket has closed: called once, and last. The error is the runtime's. */
  onClose(error: Error | undefined): void;
}

/** Header fields in order, as a flat list: name, value, name, value. Names are lower-case, values byte strings without outer white space. */
export type HeaderList = string[];

/** The head of a request, validated: connections do not check it again. */
export interface RequestHead {
  /** The method as it is sent, case included. */
  readonly method: string;
  /** `:scheme`, and whether HTTP/1.1 runs over TLS. */
  readonly scheme: "http" | "https";
  /** Host and port: `:authority`, and the Host field of HTTP/1.1. */
  readonly authority: string;
  /** Path and query, percent-encoded: `:path`, and the request target of HTTP/1.1. */
  readonly path: string;
  /** The fields, without `host` and those that the connection makes: `content-length`, `connection`, `transfer-encoding`, `upgrade` … */
  readonly headers: HeaderList;
  /** Whether an HTTP/1.1 connection ends with the response; default: false. */
  readonly closes?: boolean;
  /** Whether no other request shares its HTTP/1.1 connection: it is not idempotent, or was lost before; default: false. */
  readonly alone?: boolean;
}

export interface RequestBody {
  /** The length in bytes; undefined if unknown, which HTTP/1.1 sends chunked. `read` rejects if the body has another length. */
  readonly length: number | undefined;
  /** The whole body, if it is in memory: then `read` need not be called. */
  readonly bytes: Uint8Array | undefined;
  /** Returns the next piece, undefined at the end; one call at a time. Rejects with an HttpError (BODY_FAILED). A piece is empty only if its memory was transferred. */
  read(): Promise<Uint8Array | undefined>;
  /** Whether bytes of the body were put into the output, which sets it: from then on, another attempt cannot have the same stream. */
  begun?: boolean;
  /** Fields to send after the body, if any: known once `read` has returned undefined. The length is unknown then. */
  readonly trailers?: HeaderList | undefined;
  /** Cancels the rest of the body. Never throws, and does nothing after the end. */
  cancel(reason: unknown): void;
}

/** Returns the Content-Length of a request; undefined for none. Methods that expect a body have 0 without one (RFC 9110 section 8.6). */
export function lengthToSay(method: string, body: RequestBody | undefined): number | undefined {
  if (body !== undefined) return body.bytes?.length ?? body.length;
  return method === "POST" || method === "PUT" || method === "PATCH" ? 0 : undefined;
}

export interface ResponseHead {
  /** 200 to 999; a status above 599 means a 5xx. Informational ones go to {@link ExchangeHandler.onInformational}. */
  readonly status: number;
  /** The reason phrase of HTTP/1.1; empty for h2. */
  readonly statusText: string;
  readonly headers: HeaderList;
}

/**
 * The callbacks of a request: onHead once, onData, onEnd; or onFail. None is called before `start` has returned, after the last one, or after {@link Exchange.cancel}.
 */
export interface ExchangeHandler {
  /** A 1xx response (never 101). */
  onInformational(status: number, headers: HeaderList): void;
  onHead(head: ResponseHead): void;
  /** Bytes of the body: a view of the connection's memory, which is not overwritten. @param isOwn As in {@link TransportEvents.onData}. */
  onData(chunk: Uint8Array, isOwn?: boolean): void;
  /** The body's end, with its trailers. @param isSending Whether the request's body is still being sent: onSent or onFail follows. */
  onEnd(trailers: HeaderList | undefined, isSending: boolean): void;
  /** The request's body is sent; called once, before or after onEnd. @param isWhole Whether the system has all of it: a server may have stopped it. */
  onSent(isWhole: boolean): void;
  /** The last call: the connection has ended, and its server has not shown that it read a body whose end was sent after the response. */
  onUnread?(error: HttpError): void;
  /** The rest will not arrive. @param untouched Whether the server certainly did not act on the request. @param unsent Whether its head did not even reach the output. */
  onFail(error: HttpError, untouched: boolean, unsent: boolean): void;
}

export interface Exchange {
  /** Whether the request's body is not sent completely. */
  readonly isSending: boolean;
  /** The time of `performance.now()` at which the connection last took bytes of the request's body; 0 before the first. */
  readonly progressAt: number;
  /** Reports that the reader took `bytes` bytes of the body: there is room for as many more. */
  consumed(bytes: number): void;
  /** Cancels the request: by RST_STREAM(CANCEL), or the end of an h1 connection. Does nothing once both bodies have ended. */
  cancel(reason: unknown): void;
}

export interface Connection {
  readonly protocol: "h2" | "http/1.1";
  /** The number of requests that may be started now; 0 once the connection is closing. */
  readonly free: number;
  readonly active: number;
  /** Whether no more requests are taken (GOAWAY, `connection: close`, close(), destroy(), the socket's end). */
  readonly closing: boolean;
  /** The time of `performance.now()` until which an h1 connection is better not used: its server may be sending more after the last response. */
  readonly restsUntil?: number;
  /** The number of streams that a server's SETTINGS allow: Infinity without a limit; undefined before SETTINGS, and in HTTP/1.1. */
  readonly peerMaxConcurrentStreams?: number | undefined;
  /** Starts a request; only while `free` is not 0. Without a `body`, h1 sends no Content-Length for methods such as GET. */
  start(head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler): Exchange;
  /** Takes no more requests, and closes once those in progress have ended. */
  close(): void;
  /** Ends the connection at once; requests in progress fail with the error. */
  destroy(error: HttpError): void;
}

/** The receiver of a connection's own events. Never called within `start`, `close` or `destroy`. */
export interface ConnectionOwner {
  /** `free` has grown because a request ended, or the server's SETTINGS arrived. */
  onFree(connection: Connection): void;
  /** `closing` became true. Called once, and before onClosed. */
  onClosing(connection: Connection): void;
  /** The socket has closed, after the ends of all requests. Called once, and last. */
  onClosed(connection: Connection, error: HttpError | undefined): void;
}
