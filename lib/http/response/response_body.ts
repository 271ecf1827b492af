import { joinBytes } from "../../streams/internal.ts";
import type { HeaderList } from "../connection.ts";
import { ByteQueue } from "./byte_queue.ts";
import { responseHeaders } from "./response_headers.ts";

/** The end of a body: whole, with the fields that came after it, or not, for a reason. */
export type BodyEnd =
  | { readonly isWhole: true; readonly trailers: HeaderList }
  | { readonly isWhole: false; readonly reason: unknown };

export interface Failure {
  readonly reason: unknown;
}

/** The origin of a body's bytes. */
export interface BodyControl {
  /** The bytes of what was pushed that were taken: there is room for as many more. May be called within `push`. */
  consumed(bytes: number): void;
  /** Cancels the rest, with so many bytes that are unread. Not called after the end, nor after a failure. */
  cancel(reason: unknown, unread: number): void;
  /** A consumer waits for bytes, and there are none. */
  wanted?(): void;
  /** Asked before each read: the reason why no reader may have the bytes, even if they are here, or undefined. */
  revoked?(): Failure | undefined;
  /** The rest of it after the end, as responses are kept for long. */
  ended?(): BodyControl;
}

/** The reason of a body that no reader can have any more. */
export class Unreachable extends TypeError {
  constructor() {
    super("Nobody can read the response any more: it was dropped before its end");
  }
}

export interface BodyConsumer {
  /** There is something to take, or the end, or a failure. */
  onReady(): void;
}

/**
 * The body of a response on its way from a connection to its reader. Bytes wait here until they are taken: as a whole without
 * a stream between, as a stream, or piece by piece.
 *
 * It is open, whole, or lost: open until its bytes have come, and lost from any state, unless a reader has taken the whole. What is lost
 * drops its bytes, so that a reader which finds none left and the state whole has had them all.
 *
 * Connections hold it. It holds its reader only while that waits, so that an unreachable response can be found.
 */
export class ResponseBody {
  #control: BodyControl;
  readonly #chunks: ByteQueue = new ByteQueue();
  #consumer: BodyConsumer | undefined = undefined;
  /** The consumer of the end, without a demand for bytes. */
  #watcher: BodyConsumer | undefined = undefined;
  #end: BodyEnd | undefined = undefined;
  /** Bytes that may still be pushed. */
  #room = Infinity;
  #tooLarge: (() => unknown) | undefined = undefined;
  /** Whether its bytes are claimed: by a reader of the whole, or a stream. */
  isTaken = false;
  /** Whether content codings were undone, so that some fields of the head are not about these bytes. */
  isDecoded = false;
  #trailers: PromiseWithResolvers<Headers> | undefined = undefined;
  /** Called when nothing more is to come. */
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

  /** Nothing more comes but the trailers. Does nothing after the end. */
  end(trailers: HeaderList = []): void {
    if (this.#end === undefined) this.#finish({ isWhole: true, trailers });
  }

  /** Sets how many bytes it may have, those included that are here. It is lost as soon as there are more. */
  limit(bytes: number, error: () => unknown): void {
    this.#room = bytes - this.#chunks.length;
    this.#tooLarge = error;
    if (this.#room < 0) this.cancel(error());
  }

  /** The rest will not come; what was not taken yet is dropped. Does nothing after the end. */
  fail(reason: unknown): void {
    if (this.#end === undefined) this.#lose(reason);
  }

  /** Gives up what was not taken yet, even if all of it has come. Its reader gets the reason as an error. */
  cancel(reason: unknown): void {
    const control = this.#end === undefined ? this.#control : undefined;
    const { length } = this.#chunks;
    this.#lose(reason);
    control?.cancel(reason, length);
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** The end as its reader comes to it; undefined while there is something to take, or more may come. */
  get outcome(): BodyEnd | undefined {
    return this.#end?.isWhole && this.#chunks.length > 0 ? undefined : this.#end;
  }

  /** Whether all of it has come, and a reader may have what was not taken yet. */
  get isWhole(): boolean {
    this.heed();
    return this.#end?.isWhole === true;
  }

  /** The reason why no reader may have the bytes any more: the request was aborted, or the client destroyed. */
  get revoked(): Failure | undefined {
    return this.#control.revoked?.();
  }

  /** Gives it up if no reader may have it any more. */
  heed(): void {
    const { revoked } = this;
    if (revoked !== undefined) this.cancel(revoked.reason);
  }

  get available(): number {
    return this.#chunks.length;
  }

  /** Fields that come after the body: settled with its end, rejected once it is lost. Always the same. */
  get trailers(): Promise<Headers> {
    if (this.#trailers === undefined) {
      this.#trailers = Promise.withResolvers();
      this.#trailers.promise.catch(() => {}); // few ask what became of it
      this.#settleTrailers();
    }
    return this.#trailers.promise;
  }

  /** Waits for bytes or the end. Calls the consumer once, at once if they are there. */
  want(consumer: BodyConsumer): void {
    this.#consumer = consumer;
    this.heed();
    if (this.#chunks.length === 0 && this.#end === undefined) this.#control.wanted?.();
    else this.#report();
  }

  /** Is told of the end, also if it does not wait then. */
  watch(consumer: BodyConsumer): void {
    if (this.#end === undefined) this.#watcher = consumer;
  }

  /** The next piece, a view of what was pushed; undefined if there is none now. */
  take(most: number = Infinity): Uint8Array | undefined {
    const chunk = this.#chunks.take(most);
    if (chunk !== undefined) this.#control.consumed(chunk.length);
    return chunk;
  }

  /** The next piece, in memory that its taker may keep. */
  takeOwn(most: number): Uint8Array<ArrayBuffer> | undefined {
    const chunk = this.#chunks.takeOwn(most);
    if (chunk !== undefined) this.#control.consumed(chunk.length);
    return chunk;
  }

  takeInto(target: Uint8Array): number {
    const length = this.#chunks.takeInto(target);
    if (length > 0) this.#control.consumed(length);
    return length;
  }

  /** A copy of the bytes that can be taken now, which stay here. */
  copyContent(): Uint8Array<ArrayBuffer> {
    return joinBytes(this.#chunks.pieces, this.#chunks.length);
  }

  /** Drops what was not taken yet; does nothing if that is nothing. */
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

  /** Only the first time counts. */
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
