import type { BodyReader } from "./body_reader.ts";
import { holdBytes, releaseBytes, shareOf } from "./in_flight.ts";
import { letGo, streamFailure, type StreamTraits } from "./stream_traits.ts";

/** Bytes that all bodies may hold at a time: with reads of 64 KiB each, Deno takes half as much time again. */
const BUDGET = 32 * 1024 * 1024;

/** Reads a body from a byte stream, into two buffers in turn. */
export class ByteStreamBody implements BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #traits: StreamTraits;
  /** Bytes of each: Deno's server buffers a body without a limit once it is read in smaller parts than before. */
  readonly #size: number;
  /** What the read before the last has filled, and what the last has. */
  #older: ArrayBuffer | undefined = undefined;
  #newer: ArrayBuffer | undefined = undefined;
  #isOver = false;
  #failure: { readonly reason: unknown } | undefined = undefined;

  constructor(reader: ReadableStreamBYOBReader, traits: StreamTraits) {
    this.#reader = reader;
    this.#traits = traits;
    holdBytes();
    this.#size = shareOf(BUDGET);
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    this.#throwIfFailed();
    const buffer = this.#older ?? new ArrayBuffer(this.#size);
    this.#older = this.#newer;
    const { done, value } = await this.#reader.read(new Uint8Array(buffer)).catch((error) => {
      this.#throwIfFailed();
      this.#end();
      throw streamFailure(error, this.#traits);
    });
    this.#throwIfFailed();
    if (done) return this.#end();
    this.#newer = value.buffer;
    return [value];
  }

  release(): void {
    // The buffer is used again in its turn.
  }

  async cancel(reason: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#failure = { reason };
    this.#end();
    letGo(this.#reader, reason, this.#traits);
  }

  #throwIfFailed(): void {
    if (this.#failure) throw this.#failure.reason;
  }

  #end(): undefined {
    if (this.#isOver) return;
    this.#isOver = true;
    releaseBytes();
  }
}
