import type { Exchange, ExchangeHandler, RequestBody } from "../connection.ts";
import type { ResolvedOptions } from "../http_client_options.ts";
import { ConnectionFault, frameName, MAX_STREAM, STREAM_CLOSED } from "./protocol.ts";

type OfClients = "maxConcurrentStreams" | "streamWindow" | "maxHeaderSize" | "pingInterval" | "pingTimeout";

/** The options of a session; times in ms, 0 for never. */
export interface Http2Options extends Pick<ResolvedOptions, OfClients> {
  readonly origin: string;
  readonly idleTimeout: number;
  /** Requests at a time until the server's SETTINGS come. Default: 1. */
  readonly allowedAtFirst?: number;
  /** The first stream's id, for tests of what happens at the last. Default: 1. */
  readonly firstStream?: number;
}

/** Streams that are remembered; frames of those before are ignored, whichever side ended them. */
const MAX_CLOSED_STREAMS = 1000;

/**
 * Streams that a reset ended: what a server sends on those that we reset may have been under way, and is ignored. On all others
 * nothing may come once the server has ended them.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-5.1}
 */
export class ClosedStreams {
  /** By their ids; true: the server reset it, and was not told since that it is closed. */
  readonly #reset = new Map<number, boolean>();
  #forgotten = 0;

  /** Remembers a stream that the server reset; or, if not, that we did, or that the server never looked at. */
  add(id: number, isTheirs: boolean): void {
    this.#reset.set(id, isTheirs);
    if (this.#reset.size <= MAX_CLOSED_STREAMS) return;
    const [oldest] = this.#reset.keys();
    this.#reset.delete(oldest!);
    this.#forgotten = Math.max(this.#forgotten, oldest!);
  }

  /** Whether a frame for a closed stream is reset, else ignored. @throws {ConnectionFault} if the server had ended the stream. */
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

/** A request on a session, and its response. Plain fields, as the session, the sender and the response's rules share them. */
export class Http2Stream implements Exchange {
  readonly id: number;
  readonly handler: ExchangeHandler;
  readonly owner: StreamOwner;
  /** Whether it has ended: the handler is not called any more, and what comes for it is dropped. */
  isOver = false;

  body: RequestBody | undefined;
  /** A piece of the body that waits for room, from `pieceAt` on. */
  piece: Uint8Array | undefined = undefined;
  pieceAt = 0;
  /** Whether a read of the body is pending. */
  isReading = false;
  isQueued = false;
  progressAt = 0;
  /** The offset behind its body in all bytes that the session ever sent; 0 before, and once the system has taken these. */
  bodyEnd = 0;
  /** Bytes that the server lets us send; negative if its SETTINGS lowered the window. */
  sendWindow = 0;

  receiveWindow: number;
  /** Bytes that the reader took, and that no WINDOW_UPDATE has returned yet. */
  credit = 0;

  hasHead = false;
  /** Whether the server accepts the request, so that its body is sent on though the response has ended. */
  isAccepted = false;
  /** Whether the response has ended, and the body is being sent on. */
  isAnswered = false;
  /** Whether the end of the body was sent behind the response. */
  isLate = false;
  /** Whether the response can have no body: to HEAD, 204, 304. */
  isBodiless: boolean;
  /** The rest of the response's body by its Content-Length; -1 if that is unknown. */
  expected = -1;
  /** The offset of its HEADERS in all bytes that the session ever sent. */
  readonly sentAt: number;

  /** Makes a stream without a body. An object of options a request would cost more than six parameters. */
  constructor(
    id: number,
    owner: StreamOwner,
    handler: ExchangeHandler,
    receiveWindow: number,
    sentAt: number,
    isHead: boolean,
  ) {
    this.id = id;
    this.owner = owner;
    this.handler = handler;
    this.body = undefined;
    this.receiveWindow = receiveWindow;
    this.sentAt = sentAt;
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

/** Slots at first; always a power of two, and at least twice as many as streams. */
const SLOTS = 64;

/**
 * The streams of a session that are under way, and which there were.
 *
 * Not a Map: V8 links its former tables to later ones, so that all streams outlive their time (a fifth of a busy session's CPU
 * time). Ids follow each other, so that a slot is nearly always free.
 */
export class StreamTable {
  size = 0;
  next: number;
  #slots: (Http2Stream | undefined)[] = emptySlots(SLOTS);

  constructor(first: number) {
    this.next = first;
  }

  get isExhausted(): boolean {
    return this.next > MAX_STREAM;
  }

  get(id: number): Http2Stream | undefined {
    return this.#slots[this.#find(id)];
  }

  all(): Http2Stream[] {
    return this.#slots.filter((stream) => stream !== undefined).sort((a, b) => a.id - b.id);
  }

  every(isSo: (stream: Http2Stream) => boolean): boolean {
    return this.#slots.every((stream) => stream === undefined || isSo(stream));
  }

  add(stream: Http2Stream): void {
    if (++this.size * 2 > this.#slots.length) this.#grow();
    this.#slots[this.#find(stream.id)] = stream;
    this.next += 2;
  }

  delete(id: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let free = this.#find(id);
    if (slots[free] === undefined) return;
    this.size--;
    slots[free] = undefined;
    // Those behind it that are not where they belong move up, so that nothing is behind a gap.
    for (let at = (free + 1) & mask; slots[at] !== undefined; at = (at + 1) & mask) {
      const home = (slots[at]!.id >>> 1) & mask;
      if (((at - home) & mask) < ((at - free) & mask)) continue;
      slots[free] = slots[at];
      slots[at] = undefined;
      free = at;
    }
  }

  /** Whether the server may speak of this stream: one that we opened, though it may be over. */
  isKnown(id: number): boolean {
    return (id & 1) === 1 && id < this.next;
  }

  /** The slot that a stream is in, or the empty one that it would be in. */
  #find(id: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (id >>> 1) & mask;
    for (let stream = slots[at]; stream !== undefined && stream.id !== id; stream = slots[at]) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const streams = this.#slots;
    this.#slots = emptySlots(streams.length * 2);
    for (const stream of streams) {
      if (stream !== undefined) this.#slots[this.#find(stream.id)] = stream;
    }
  }
}

function emptySlots(length: number): (Http2Stream | undefined)[] {
  return new Array<Http2Stream | undefined>(length).fill(undefined);
}
