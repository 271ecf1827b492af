import type { Exchange, ExchangeHandler, RequestBody } from "../connection.ts";
import type { ResolvedOptions } from "../http_client_options.ts";
import { ConnectionFault, frameName, STREAM_CLOSED } from "./protocol.ts";

type OfClients = "maxConcurrentStreams" | "streamWindow" | "maxHeaderSize" | OfPings;
type OfPings = "pingInterval" | "pingTimeout" | "headersTimeout";

/** The options of a session; times in ms, 0 for never. */
export interface Http2Options extends Pick<ResolvedOptions, OfClients> {
  readonly origin: string;
  readonly idleTimeout: number;
  /** The maximum of requests before the server's SETTINGS arrive. Default: 1. */
  readonly allowedAtFirst?: number;
  /** The first stream's id, for tests of the last ids. Default: 1. */
  readonly firstStream?: number;
}

/** The maximum number of remembered streams; frames for older ones are ignored, whichever side ended them. */
const MAX_CLOSED_STREAMS = 1000;

/**
 * Streams ended by a reset. Frames for a stream that this client reset may have crossed the reset, and are ignored. On all other streams, no frame may follow the server's end.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-5.1}
 */
export class ClosedStreams {
  /** The streams by id; true: the server reset the stream, and no reset was sent for it since. */
  readonly #reset = new Map<number, boolean>();
  #forgotten = 0;

  /** Adds a stream that the server reset if `isTheirs`; otherwise one that this client reset, or that the server never processed. */
  add(id: number, isTheirs: boolean): void {
    this.#reset.set(id, isTheirs);
    if (this.#reset.size <= MAX_CLOSED_STREAMS) return;
    const [oldest] = this.#reset.keys();
    this.#reset.delete(oldest!);
    this.#forgotten = Math.max(this.#forgotten, oldest!);
  }

  /** Whether a frame for a closed stream is reset; otherwise it is ignored. @throws {ConnectionFault} if the server had ended the stream. */
  judge(id: number, type: number): boolean {
    const isTheirs = this.#reset.get(id);
    if (isTheirs === undefined && id > this.#forgotten) {
      const message = `the server sent a ${frameName(type)} frame for stream ${id}, which it had ended`;
      throw new ConnectionFault(STREAM_CLOSED, message);
    }
    if (isTheirs === true) this.#reset.set(id, false);
    return isTheirs === true;
  }
}

export interface StreamOwner {
  onConsumed(stream: Http2Stream, bytes: number): void;
  onCancel(stream: Http2Stream, reason: unknown): void;
}

/** A request on a session, and its response. Its fields are public, as the session, the sender and the response's rules share them. */
export class Http2Stream implements Exchange {
  readonly id: number;
  readonly handler: ExchangeHandler;
  readonly owner: StreamOwner;
  /** Whether the request has ended: its handler is not called any more, and its frames are dropped. */
  isOver = false;

  body: RequestBody | undefined = undefined;
  /** A piece of the body that waits for room, from `pieceAt` on. */
  piece: Uint8Array | undefined = undefined;
  pieceAt = 0;
  /** Whether a read of the body is pending. */
  isReading = false;
  isQueued = false;
  progressAt = 0;
  /** The offset behind its body in all bytes ever sent by the session; 0 before the end, and once the system has taken them. */
  bodyEnd = 0;
  /** The bytes that the server permits to send; negative if its SETTINGS lowered the window. */
  sendWindow = 0;

  receiveWindow: number;
  /** The bytes that the reader took, but no WINDOW_UPDATE has returned yet. */
  credit = 0;

  hasHead = false;
  /** Whether the server accepts the request, so that its body is sent to the end although the response has ended. */
  isAccepted = false;
  /** Whether the response has ended while the body is still being sent. */
  isAnswered = false;
  /** Whether the end of the body was sent after the response. */
  isLate = false;
  /** Whether the response cannot have a body: to HEAD, 204, 304. */
  isBodiless: boolean;
  /** The remaining bytes of the response's body by its Content-Length; -1 if unknown. */
  expected = -1;
  /** The offset of its HEADERS in all bytes ever sent by the session; Infinity before they are in the output. */
  sentAt: number = Infinity;

  /** Creates a stream without a body. Five parameters cost less than an object of options for each request. */
  constructor(id: number, owner: StreamOwner, handler: ExchangeHandler, receiveWindow: number, isHead: boolean) {
    this.id = id;
    this.owner = owner;
    this.handler = handler;
    this.receiveWindow = receiveWindow;
    this.isBodiless = isHead;
  }

  get isSending(): boolean {
    return this.body !== undefined || this.bodyEnd > 0;
  }

  consumed(bytes: number): void {
    if (!this.isOver && !this.isAnswered) this.owner.onConsumed(this, bytes);
  }

  cancel(reason: unknown): void {
    if (!this.isOver) this.owner.onCancel(this, reason);
  }
}

/** The initial number of slots, always a power of two and at least twice the number of streams. */
const SLOTS = 64;

/**
 * The open streams of a session, and the range of former ones.
 *
 * Not a Map: V8 links its former tables to later ones, so that all streams outlive their time (a fifth of a busy session's CPU time). Ids are consecutive, so a slot is
 * nearly always free.
 */
export class StreamTable {
  size = 0;
  next: number;
  /** The highest id whose HEADERS are in the output: streams above it are idle, and no frame may come for them. */
  opened = 0;
  #slots: (Http2Stream | undefined)[] = emptySlots(SLOTS);
  /** The number of streams that are behind their own slot, as another had that. */
  #displaced = 0;

  constructor(first: number) {
    this.next = first;
  }

  get(id: number): Http2Stream | undefined {
    return id > this.opened ? undefined : this.#slots[this.#find(id)];
  }

  all(): Http2Stream[] {
    return this.#slots.filter((stream) => stream !== undefined).sort((a, b) => a.id - b.id);
  }

  every(isSo: (stream: Http2Stream) => boolean): boolean {
    return this.#slots.every((stream) => stream === undefined || isSo(stream));
  }

  add(stream: Http2Stream): void {
    if (++this.size * 2 > this.#slots.length) this.#grow();
    this.#put(stream);
    this.next += 2;
  }

  delete(id: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const free = this.#find(id);
    if (slots[free] === undefined) return;
    this.size--;
    slots[free] = undefined;
    if (free !== ((id >>> 1) & mask)) this.#displaced--;
    // Streams that were displaced find another place, so that none is behind a gap: a search of the run would cost 5% of a request.
    for (let at = (free + 1) & mask; this.#displaced > 0 && slots[at] !== undefined; at = (at + 1) & mask) {
      const stream = slots[at]!;
      if (at === ((stream.id >>> 1) & mask)) continue;
      slots[at] = undefined;
      this.#displaced--;
      this.#put(stream);
    }
  }

  /** Whether the server may refer to this stream: one that this client opened, even if it has ended. */
  isKnown(id: number): boolean {
    return (id & 1) === 1 && id <= this.opened;
  }

  /** Returns the slot of a stream, or the empty one that it would get. */
  #find(id: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (id >>> 1) & mask;
    for (let stream = slots[at]; stream !== undefined && stream.id !== id; stream = slots[at]) at = (at + 1) & mask;
    return at;
  }

  #put(stream: Http2Stream): void {
    const at = this.#find(stream.id);
    this.#slots[at] = stream;
    if (at !== ((stream.id >>> 1) & (this.#slots.length - 1))) this.#displaced++;
  }

  #grow(): void {
    const streams = this.#slots;
    this.#slots = emptySlots(streams.length * 2);
    this.#displaced = 0;
    for (const stream of streams) if (stream !== undefined) this.#put(stream);
  }
}

function emptySlots(length: number): (Http2Stream | undefined)[] {
  return new Array<Http2Stream | undefined>(length).fill(undefined);
}
