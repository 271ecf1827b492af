import type { BodyReader } from "./body_reader.ts";
import { ChunkSizedReads } from "./chunk_sized_reads.ts";
import { activeBodies, holdBytes, releaseBytes } from "./in_flight.ts";
import { letGo, streamFailure, type StreamTraits } from "./stream_traits.ts";

/** With more bodies than this, each is read only when what it gave is written: others are read meanwhile. */
const CROWD = 64;
/**
 * Bytes of a read, by how many bodies there are. Deno's server holds three times that for each connection besides, for
 * as long as the body lasts; and reads of 64 KiB take half as much time again as those of 256.
 */
const SIZES: readonly { readonly most: number; readonly size: number }[] = [
  { most: 16, size: 256 * 1024 },
  { most: CROWD, size: 128 * 1024 },
  { most: 128, size: 64 * 1024 },
  { most: Infinity, size: 32 * 1024 },
];

/** Reads a body from a byte stream, into one or two buffers. */
export class ByteStreamBody implements BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #traits: StreamTraits;
  /** Bytes of each read: Deno's server buffers a body without a limit once it is read in smaller parts than before. */
  readonly #size: number;
  /** How many of them are asked for, if not all. */
  readonly #asked: ChunkSizedReads | undefined;
  /** Buffers that may be filled. */
  readonly #free: ArrayBuffer[] = [];
  /** What was given and is still used, the oldest first. */
  readonly #given: ArrayBuffer[] = [];
  /** Lets a read go on that waits for a buffer. */
  #onFree: (() => void) | undefined = undefined;
  #isOver = false;
  #failure: { readonly reason: unknown } | undefined = undefined;

  constructor(reader: ReadableStreamBYOBReader, traits: StreamTraits) {
    this.#reader = reader;
    this.#traits = traits;
    holdBytes();
    const bodies = activeBodies();
    this.#size = SIZES.find(({ most }) => bodies <= most)!.size;
    this.#asked = traits.readsAhead ? new ChunkSizedReads(this.#size) : undefined;
  }

  get isHeldBack(): boolean {
    return this.#onFree !== undefined;
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    this.#throwIfFailed();
    if (this.#given.length > 0 && activeBodies() > CROWD) {
      await new Promise<void>((resolve) => this.#onFree = resolve);
      this.#throwIfFailed();
    }
    const buffer = this.#free.pop() ?? new ArrayBuffer(this.#size);
    let result: ReadableStreamReadResult<Uint8Array<ArrayBuffer>>;
    try {
      result = await this.#reader.read(new Uint8Array(buffer, 0, this.#asked?.size));
    } catch (error) {
      this.#throwIfFailed();
      this.#end();
      throw streamFailure(error, this.#traits);
    }
    this.#throwIfFailed();
    if (result.done) return this.#end();
    this.#asked?.gave(result.value.length);
    this.#given.push(result.value.buffer);
    return [result.value];
  }

  release(): void {
    const buffer = this.#given.shift();
    if (buffer) this.#free.push(buffer);
    this.#goOn();
  }

  cancel(reason: unknown): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#failure = { reason };
    this.#end();
    this.#goOn();
    letGo(this.#reader, reason, this.#traits);
    return Promise.resolve();
  }

  #goOn(): void {
    this.#onFree?.();
    this.#onFree = undefined;
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
