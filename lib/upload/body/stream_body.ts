import type { BodyReader } from "./body_reader.ts";
import { freeChunks, holdBytes, notBytes, releaseBytes, windowOf } from "./free_chunks.ts";
import { letGo, streamFailure, type StreamTraits } from "./stream_traits.ts";

/** Bytes that all bodies of this kind may hold at a time, half of it gathered and half being written. */
const BUDGET = 16 * 1024 * 1024;

/** Reads a body from a stream of bytes. */
export class StreamBody implements BodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #pieces: Uint8Array[] = [];
  #gathered = 0;
  #isReading = false;
  #waiting: { resolve(pieces: readonly Uint8Array[] | undefined): void; reject(error: unknown): void } | undefined =
    undefined;
  #hasEnded = false;
  #failure: { readonly reason: unknown } | undefined = undefined;
  /** Chunks handed out and still in use, the oldest first; only if nobody else owns the chunks. */
  readonly #given: (readonly Uint8Array[])[] = [];
  readonly #traits: StreamTraits;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, traits: StreamTraits) {
    this.#reader = reader;
    this.#traits = traits;
    holdBytes();
    void this.#gather();
  }

  get isHeldBack(): boolean {
    return !this.#isReading;
  }

  read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#gathered > 0) {
      const pieces = this.#give();
      void this.#gather();
      return Promise.resolve(pieces);
    }
    if (this.#failure) return Promise.reject(this.#failure.reason);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => this.#waiting = { resolve, reject });
  }

  release(): void {
    if (this.#traits.ownsChunks) freeChunks(this.#given.shift() ?? []);
  }

  cancel(reason: unknown): Promise<void> {
    if (this.#hasEnded || this.#failure) return Promise.resolve();
    this.#pieces = [];
    this.#gathered = 0;
    this.#fail(reason);
    letGo(this.#reader, reason, this.#traits);
    return Promise.resolve();
  }

  /** Reads until enough is gathered. */
  async #gather(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#gathered < windowOf(BUDGET) / 2 && !this.#hasEnded && !this.#failure) {
        const { done, value } = await this.#reader.read();
        if (this.#failure) return;
        if (done) this.#end();
        else this.#take(value);
      }
    } catch (error) {
      this.#fail(streamFailure(error, this.#traits));
    } finally {
      this.#isReading = false;
    }
  }

  #take(value: unknown): void {
    if (!(value instanceof Uint8Array)) return void this.cancel(notBytes(value));
    if (value.length === 0) return;
    this.#pieces.push(value);
    this.#gathered += value.length;
    this.#waiting?.resolve(this.#give());
    this.#waiting = undefined;
  }

  #give(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    if (this.#traits.ownsChunks) this.#given.push(pieces);
    this.#pieces = [];
    this.#gathered = 0;
    return pieces;
  }

  #end(): void {
    this.#hasEnded = true;
    releaseBytes();
    this.#waiting?.resolve(undefined);
  }

  #fail(reason: unknown): void {
    if (this.#hasEnded || this.#failure) return;
    this.#failure = { reason };
    releaseBytes();
    this.#waiting?.reject(reason);
  }
}
