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
  /** Whether bytes that were written wait: more should wait for onDrain. */
  readonly full: boolean;
  /** The bytes that were written and that the system has not taken: destroy() loses them. Infinity once some are lost. */
  readonly waiting: number;
  /** Whether all that was written is surely sent, or copied: its memory may be written to again. */
  readonly empty: boolean;
  /** Sets the receiver of events. Called once, in the turn in which the transport was given; nothing is lost before. */
  attach(events: TransportEvents): void;
  /** Sends bytes, in order; their memory belongs to the transport until it is `empty`. @param tells Whether onDrain is called once they are out, full or not. */
  write(bytes: Uint8Array, tells?: boolean): void;
  /** No onData until resume (one that is on its way may still come). */
  pause(): void;
  resume(): void;
  /** Sets whether pieces of one turn of the event loop are passed on as one, at its end at the latest. Default: false. */
  gather(gathers: boolean): void;
  /** Sends what was written, then the end; the peer's bytes still come. */
  end(): void;
  /** Ends the user's stream, which may keep some of what it took, and destroys it, after `ms` at the latest (0: no limit); others at once. */
  leave(ms: number): void;
  /** Destroys the socket at once. onClose follows, later. */
  destroy(): void;
  /** Whether this connection keeps the process alive. It does at first. */
  keepProcess(alive: boolean): void;
}

/** The callbacks of a transport, never called within one of its own methods. */
export interface TransportEvents {
  /** Bytes, the receiver's to write to. @param isOwn Whether the chunk is all of its memory and may be transferred; default: no. */
  onData(chunk: Uint8Array, isOwn?: boolean): void;
  onDrain(): void;
  onEnd(): void;
  /** The socket is gone: once, and last. The error is the runtime's. */
  onClose(error: Error | undefined): void;
}

/** Header fields in their order, flat: name, value, name, value. Names are lower-case, values byte strings without surrounding white space. */
export type HeaderList = string[];

/** The start of a request, validated: no connection looks at it for errors. */
export interface RequestHead {
  /** The method as it is sent: case matters. */
  readonly method: string;
  /** `:scheme`, and whether h1 is spoken over TLS. */
  readonly scheme: "http" | "https";
  /** Host and port: `:authority`, and the Host field of HTTP/1.1. */
  readonly authority: string;
  /** Path and query, percent-encoded: `:path`, and the request target of HTTP/1.1. */
  readonly path: string;
  /** Without `host`, and without fields that the connection makes: `content-length`, `connection`, `transfer-encoding`, `upgrade` … */
  readonly headers: HeaderList;
  /** Whether the connection, of HTTP/1.1, is to end with the response; default: no. */
  readonly closes?: boolean;
}

/** The body of a request, as a connection takes it. */
export interface RequestBody {
  /** The length in bytes; undefined if it is unknown, which h1 sends chunked. `read` rejects if it is another. */
  readonly length: number | undefined;
  /** All of it, if it is in memory: then `read` need not be called. */
  readonly bytes: Uint8Array | undefined;
  /** The next piece, undefined at the end; one call at a time. Rejects with an HttpError (BODY_FAILED). A piece is empty only if its memory was taken back. */
  read(): Promise<Uint8Array | undefined>;
  /** Fields to send after it, if there are some: known once `read` has given undefined. Then the length is unknown. */
  readonly trailers?: HeaderList | undefined;
  /** The rest is not wanted. Never throws. Does nothing after the end. */
  cancel(reason: unknown): void;
}

/** The Content-Length of a request; undefined for none. Methods that expect a body have 0 without one (RFC 9110 section 8.6). */
export function lengthToSay(method: string, body: RequestBody | undefined): number | undefined {
  if (body !== undefined) return body.bytes?.length ?? body.length;
  return method === "POST" || method === "PUT" || method === "PATCH" ? 0 : undefined;
}

export interface ResponseHead {
  /** 200 to 999, of which those above 599 mean no more than 5xx does; informational ones go to {@link ExchangeHandler.onInformational}. */
  readonly status: number;
  /** The reason phrase of HTTP/1.1; empty for h2. */
  readonly statusText: string;
  readonly headers: HeaderList;
}

/** The callbacks of a request: onHead once, onData, onEnd; or onFail. None is called before `start` has returned, after the last, nor after {@link Exchange.cancel}. */
export interface ExchangeHandler {
  /** A 1xx response (never 101). */
  onInformational(status: number, headers: HeaderList): void;
  onHead(head: ResponseHead): void;
  /** Bytes of the body: a view into what the connection read, never written to again. @param isOwn As in {@link TransportEvents.onData}. */
  onData(chunk: Uint8Array, isOwn?: boolean): void;
  /** The body's end, and its trailers. @param isSending Whether the request's body is still sent: onSent or onFail follows. */
  onEnd(trailers: HeaderList | undefined, isSending: boolean): void;
  /** The request's body is sent. Once, before or after onEnd. @param isWhole Whether the system has all of it: a server may want no more. */
  onSent(isWhole: boolean): void;
  /** The connection has ended, and its server has not shown that it read a body whose end was sent behind the response: the last call. */
  onUnread?(error: HttpError): void;
  /** The rest will not come. @param untouched Whether the server certainly did not act on the request, which may be sent again then. */
  onFail(error: HttpError, untouched: boolean): void;
}

export interface Exchange {
  /** Whether not all of the request's body is sent. */
  readonly isSending: boolean;
  /** The time at which the connection last took bytes of the request's body, of `performance.now()`; 0: of none so far. */
  readonly progressAt: number;
  /** The reader took so many bytes of what onData brought: room for as many more. */
  consumed(bytes: number): void;
  /** Gives the request up: RST_STREAM(CANCEL), or the end of an h1 connection. Does nothing once both bodies have ended. */
  cancel(reason: unknown): void;
}

export interface Connection {
  readonly protocol: "h2" | "http/1.1";
  /** The number of requests that may be started now. 0 once it is closing. */
  readonly free: number;
  readonly active: number;
  /** Whether it was said that it takes no more requests (GOAWAY, `connection: close`, close(), destroy(), the socket's end). */
  readonly closing: boolean;
  /** Until when, of `performance.now()`, an h1 connection had better not be used, as its server may be sending more behind the last response. */
  readonly restsUntil?: number;
  /** Streams that a server's SETTINGS allow: Infinity without a limit, undefined before they came and in HTTP/1.1. */
  readonly peerMaxConcurrentStreams?: number | undefined;
  /** Starts a request; only while `free` is not 0. `body` is undefined if there is none, and then h1 sends no Content-Length for GET and the like. */
  start(head: RequestHead, body: RequestBody | undefined, handler: ExchangeHandler): Exchange;
  /** Takes no more requests, and closes once those under way have ended. */
  close(): void;
  /** Ends at once; requests under way fail with the error. */
  destroy(error: HttpError): void;
}

/** The receiver of a connection's own events. Never called within `start`, `close` or `destroy`. */
export interface ConnectionOwner {
  /** `free` has grown: a request ended; or the server's SETTINGS came, whatever they changed. */
  onFree(connection: Connection): void;
  /** `closing` became true. Called once, and before onClosed. */
  onClosing(connection: Connection): void;
  /** The socket is gone, after the ends of all requests under way. Called once, and last. */
  onClosed(connection: Connection, error: HttpError | undefined): void;
}
