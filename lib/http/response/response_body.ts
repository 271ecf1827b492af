import type { HeaderList } from "../connection.ts";
import { ByteQueue } from "./byte_queue.ts";
import { responseHeaders } from "./response_headers.ts";

/** The end of a body: complete, with its trailers, or failed, with the reason. */
export type BodyEnd =
  | { readonly isWhole: true; readonly trailers: HeaderList }
  | { readonly isWhole: false; readonly reason: unknown };

export interface Failure {
  readonly reason: unknown;
}

/** The origin of a body's bytes. */
export interface BodyControl {
  /** The bytes of pushed chunks that were taken, for which there is room again. May be called within `push`. */
  consumed(bytes: number): void;
  /** Cancels the rest; `unread` bytes were not taken. Not called after the end or a failure. */
  cancel(reason: unknown, unread: number): void;
  /** A consumer waits for bytes, and there are none. */
  wanted?(): void;
  /** Called before each read: returns the reason why no reader may have the bytes, even if they are here, or undefined. */
  revoked?(): Failure | undefined;
  /** Returns the part of it that is needed after the end, since responses are kept for long. */
  ended?(): BodyControl;
}

/** The reason of a body that no reader can reach any more. */
export class Unreachable extends TypeError {
  constructor() {
    super("Nobody can read the response any more: it was dropped before its end");
  }
}

export interface BodyConsumer {
  /** Bytes, the end, or a failure are available. */
  onReady(): void;
}

/**
 * The body of a response on its way from a connection to its reader. Bytes wait here until they are taken: as a whole, as a stream, or piece by piece.
 *
 * It is open until all bytes have arrived, then complete. It can be lost in either state, unless a reader has taken the whole. A lost body drops its bytes: so a reader
 * that finds none left and the body complete has had them all.
 *
 * Connections have references to it, but it has one to its reader only while that waits, so that an unreachable response can be found.
 */
export class ResponseBody {
  #control: BodyControl;
  readonly #chunks: ByteQueue = new ByteQueue();
  #consumer: BodyConsumer | undefined = undefined;
  /** The consumer of the end, which demands no bytes. */
  #watcher: BodyConsumer | undefined = undefined;
  #end: BodyEnd | undefined = undefined;
  /** The bytes that may still be pushed. */
  #room = Infinity;
  #tooLarge: (() => unknown) | undefined = undefined;
  /** Whether a reader of the whole body, or a stream, has claimed its bytes. */
  isTaken = false;
  /** Whether content codings were undone, so that some fields of the head do not describe these bytes. */
  isDecoded = false;
  #trailers: PromiseWithResolvers<Headers> | undefined = undefined;
  /** Called when no more bytes follow. */
  onOver: ((body: ResponseBody) => void) | undefined = undefined;

  constructor(control: BodyControl) {
    this.#control = control;
  }

  /** Appends an immutable view; `isOwn`: its reader may have the memory. Does nothing after the end. */
  push(chunk: Uint8Array, isOwn: boolean = false): void {
    if (this.#end !== undefined || chunk.length === 0) return;
    this.#room -= chunk.length;
    if (this.#room < 0) return this.cancel(this.#tooLarge!());
    this.#chunks.push(chunk, isOwn);
    this.#report();
  }

  /** Ends the body with its trailers. Does nothing after the end. */
  end(trailers: HeaderList = []): void {
    if (this.#end === undefined) this.#finish({ isWhole: true, trailers });
  }

  /** Sets its maximum of bytes, those present included. The body fails as soon as there are more. */
  limit(bytes: number, error: () => unknown): void {
    this.#room = bytes - this.#chunks.length;
    this.#tooLarge = error;
    if (this.#room < 0) this.cancel(error());
  }

  /** Fails the body, and drops bytes that were not taken yet. Does nothing after the end. */
  fail(reason: unknown): void {
    if (this.#end === undefined) this.#lose(reason);
  }

  /** Cancels the rest that was not taken, even if all of it has arrived. Its reader gets the reason as an error. */
  cancel(reason: unknown): void {
    const control = this.#end === undefined ? this.#control : undefined;
    const { length } = this.#chunks;
    this.#lose(reason);
    control?.cancel(reason, length);
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** The end, once its reader has reached it; undefined while there are bytes to take, or more may arrive. */
  get outcome(): BodyEnd | undefined {
    return this.#end?.isWhole && this.#chunks.length > 0 ? undefined : this.#end;
  }

  /** The bytes that were not taken yet, if all have arrived, and a reader may have them. */
  get rest(): ByteQueue | undefined {
    this.heed();
    return this.#end?.isWhole ? this.#chunks : undefined;
  }

  /** The reason why no reader may have the bytes any more: the request was aborted, or the client destroyed. */
  get revoked(): Failure | undefined {
    return this.#control.revoked?.();
  }

  /** Cancels the body if no reader may have it any more. */
  heed(): void {
    const { revoked } = this;
    if (revoked !== undefined) this.cancel(revoked.reason);
  }

  get available(): number {
    return this.#chunks.length;
  }

  /** The trailers: fulfils with the body's end, rejects once it is lost. Always the same promise. */
  get trailers(): Promise<Headers> {
    if (this.#trailers === undefined) {
      this.#trailers = Promise.withResolvers();
      this.#trailers.promise.catch(() => {}); // few callers use the trailers
      this.#settleTrailers();
    }
    return this.#trailers.promise;
  }

  /** Waits for bytes or the end, and calls the consumer once; at once if they are available. */
  want(consumer: BodyConsumer): void {
    this.#consumer = consumer;
    this.heed();
    if (this.#chunks.length === 0 && this.#end === undefined) this.#control.wanted?.();
    else this.#report();
  }

  /** Registers a consumer that is called at the end, even if it does not wait then. */
  watch(consumer: BodyConsumer): void {
    if (this.#end === undefined) this.#watcher = consumer;
  }

  /** Returns the next piece, a view of a pushed chunk; undefined if there is none now. */
  take(most: number = Infinity): Uint8Array | undefined {
    const chunk = this.#chunks.take(most);
    if (chunk !== undefined) this.#control.consumed(chunk.length);
    return chunk;
  }

  /** Returns the next piece, in memory that the caller may keep. */
  takeOwn(most: number): Uint8Array<ArrayBuffer> | undefined {
    const chunk = this.#chunks.takeOwn(most);
    if (chunk !== undefined) this.#control.consumed(chunk.length);
    return chunk;
  }

  /** Returns {@link rest} to a reader that empties the queue. */
  takeRest(): ByteQueue | undefined {
    const { rest } = this;
    if (rest !== undefined) this.#control.consumed(rest.length);
    return rest;
  }

  takeInto(target: Uint8Array): number {
    const length = this.#chunks.takeInto(target);
    if (length > 0) this.#control.consumed(length);
    return length;
  }

  /** Drops the bytes that were not taken yet; does nothing if there are none. */
  #lose(reason: unknown): void {
    if (this.outcome !== undefined) return;
    this.#chunks.clear();
    this.#finish({ isWhole: false, reason });
  }

  #finish(end: BodyEnd): void {
    this.#end = end;
    this.#control = this.#control.ended?.() ?? this.#control;
    this.#report();
    this.#watcher?.onReady();
    this.#watcher = undefined;
    this.#settleTrailers();
    this.onOver?.(this);
    this.onOver = undefined;
  }

  #settleTrailers(): void {
    const end = this.#end;
    if (end?.isWhole) this.#trailers?.resolve(responseHeaders(end.trailers));
    else if (end !== undefined) this.#trailers?.reject(end.reason);
  }

  #report(): void {
    const consumer = this.#consumer;
    if (consumer === undefined) return;
    this.#consumer = undefined;
    consumer.onReady();
  }
}
