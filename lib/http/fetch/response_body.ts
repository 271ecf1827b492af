import { ReadableStream } from "../../streams/mod.ts";
import { BodyStreamSource } from "./body_stream_source.ts";
import { ChunkList } from "./chunk_list.ts";
import { WholeBody, type WholeKind } from "./whole_body.ts";

/** Whom a body tells what becomes of it. Never called within `push`, `end` or `fail`, but for `consumed`. */
export interface BodyControl {
  /** So many bytes of what was pushed were taken: there is room for as many more. */
  consumed(bytes: number): void;
  /** Nobody reads the rest. Not called after the end. */
  cancel(reason: unknown): void;
  /** Somebody waits for bytes, and there are none. */
  wanted?(): void;
}

/** Who takes a body's bytes. */
export interface BodyConsumer {
  /** There is something to take, or the end. */
  onReady(): void;
}

/**
 * The body of a response on its way from a connection to its reader. Bytes wait here until somebody reads them: whole (`text()`,
 * `json()` and so on) without a stream between, as a stream, or piece by piece.
 */
export class ResponseBody {
  readonly #control: BodyControl;
  readonly #chunks = new ChunkList();
  #consumer: BodyConsumer | undefined = undefined;
  #hasEnded = false;
  #failure: { readonly reason: unknown } | undefined = undefined;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined = undefined;
  #source: BodyStreamSource | undefined = undefined;

  constructor(control: BodyControl) {
    this.#control = control;
  }

  /** Appends bytes; a view that nobody writes to again. Does nothing after the end. */
  push(chunk: Uint8Array): void {
    if (this.isOver || chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#consumer?.onReady();
  }

  /** Nothing more comes. */
  end(): void {
    if (this.isOver) return;
    this.#hasEnded = true;
    this.#consumer?.onReady();
  }

  /** The rest will not come. What was pushed is dropped. */
  fail(error: unknown): void {
    if (this.isOver) return;
    this.#failure = { reason: error };
    this.#chunks.clear();
    this.#consumer?.onReady();
  }

  /** Whether nothing more is to come: ended, failed or cancelled. */
  get isOver(): boolean {
    return this.#hasEnded || this.#failure !== undefined;
  }

  /** Whether nothing is left: the end came, and everything before it was taken. */
  get isDone(): boolean {
    return this.#hasEnded && this.#chunks.length === 0;
  }

  /** What went wrong. */
  get failure(): { readonly reason: unknown } | undefined {
    return this.#failure;
  }

  /** Bytes that can be taken. */
  get available(): number {
    return this.#chunks.length;
  }

  /** Whether somebody has begun to read it. */
  get isUsed(): boolean {
    return this.#source !== undefined ? this.#source.isUsed : this.#consumer !== undefined;
  }

  /** Whether somebody is reading it, or has a lock on its stream. */
  get isLocked(): boolean {
    return this.#stream !== undefined ? this.#stream.locked : this.#consumer !== undefined;
  }

  /** Becomes the one who takes; told at once if there is something to take. */
  attach(consumer: BodyConsumer): void {
    this.#consumer = consumer;
    if (this.#chunks.length > 0 || this.isOver) consumer.onReady();
    else this.#control.wanted?.();
  }

  /** Says that there was nothing to take. */
  want(): void {
    if (!this.isOver) this.#control.wanted?.();
  }

  /** The next piece, a view of what was pushed; undefined if there is none now. */
  take(most: number = Infinity): Uint8Array | undefined {
    const chunk = this.#chunks.take(most);
    if (chunk !== undefined) this.#control.consumed(chunk.length);
    return chunk;
  }

  /** Fills a buffer with what there is; returns how many bytes. */
  takeInto(target: Uint8Array): number {
    const length = this.#chunks.takeInto(target);
    if (length > 0) this.#control.consumed(length);
    return length;
  }

  /** Gives the rest up. */
  cancel(reason: unknown): void {
    this.#chunks.clear();
    if (this.isOver) return;
    this.#failure = { reason };
    this.#control.cancel(reason);
  }

  /** All of it, once the end has come, as what is asked for. Rejects with the error that it failed with. */
  read(kind: WholeKind, contentType: string): Promise<unknown> {
    if (this.isLocked || this.isUsed) {
      return Promise.reject(
        new TypeError("Cannot read the body of the response: it is being read or was read already"),
      );
    }
    const whole = new WholeBody(this, kind, contentType);
    if (this.#stream !== undefined) return whole.readStream(this.#stream);
    return whole.result;
  }

  /** The body as a stream of bytes; always the same. */
  get stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream ??= this.#makeStream();
  }

  #makeStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const source = new BodyStreamSource(this, this.#consumer !== undefined);
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(source, { highWaterMark: 0 });
    if (this.#consumer !== undefined) stream.getReader(); // somebody reads it as a whole
    else this.#consumer = source;
    this.#source = source;
    return stream;
  }
}
