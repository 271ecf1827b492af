import { Pause } from "../../timers/mod.ts";
import {
  active,
  type BodyReader,
  cancelQuietly,
  streamFailure,
  type StreamTraits,
  windowBytes,
} from "./body_source.ts";
import { GatheredBody, SMALL } from "./gathered_body.ts";

/** The number of bodies above which a read begins only after the previous write; up to it, the two overlap. */
const MANY_BODIES = 64;
/** The bytes of a read by the number of bodies: Deno buffers three times as much, and with 64 KiB takes 1.5 times as long. */
const SIZES: readonly { readonly most: number; readonly size: number }[] = [
  { most: 16, size: 256 * 1024 },
  { most: MANY_BODIES, size: 128 * 1024 },
  { most: 128, size: 64 * 1024 },
  { most: Infinity, size: 32 * 1024 },
];

/** The time in ms for which small chunks are gathered: on Deno, a write takes 0.3 ms for 100 bytes as for more. */
const MOMENT = 4;

/** Reads a body from a byte stream, into one or two buffers. */
export class ByteStreamBody implements BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #traits: StreamTraits;
  /** The size of reads. It never shrinks: Deno's server would then buffer the body without limit. */
  readonly #size: number;
  readonly #asked: ChunkSizedReads | undefined;
  readonly #free: ArrayBuffer[] = [];
  /** The returned buffers that are still in use, the oldest first. */
  readonly #given: ArrayBuffer[] = [];
  /** A read that has begun, whose chunk was not returned yet. */
  #ahead: Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>> | undefined = undefined;
  #onFree: (() => void) | undefined = undefined;
  #isOver = false;
  #failure: { readonly reason: unknown } | undefined = undefined;

  constructor(reader: ReadableStreamBYOBReader, traits: StreamTraits) {
    this.#reader = reader;
    this.#traits = traits;
    active.bodies++;
    this.#size = SIZES.find(({ most }) => active.bodies <= most)!.size;
    this.#asked = traits.readsAhead ? new ChunkSizedReads(this.#size) : undefined;
  }

  get isPaused(): boolean {
    return this.#onFree !== undefined;
  }

  async read(): Promise<readonly Uint8Array[] | undefined> {
    this.#throwIfFailed();
    if (this.#given.length > 0 && active.bodies > MANY_BODIES) {
      await new Promise<void>((resolve) => this.#onFree = resolve);
      this.#throwIfFailed();
    }
    let piece: Uint8Array<ArrayBuffer> | undefined;
    try {
      const result = await this.#begin();
      this.#took(result);
      const { done, value } = result;
      piece = done ? undefined : value.length < SMALL ? await this.#gathered(value) : value;
    } catch (error) {
      this.#throwIfFailed();
      this.#end();
      throw streamFailure(error, this.#traits);
    }
    this.#throwIfFailed();
    if (piece === undefined) return this.#end();
    this.#given.push(piece.buffer);
    return [piece];
  }

  #took({ done, value }: ReadableStreamReadResult<Uint8Array<ArrayBuffer>>): void {
    this.#ahead = undefined;
    if (!done) this.#asked?.gave(value.length);
  }

  #begin(): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>> {
    return this.#ahead ??= this.#reader.read(new Uint8Array(this.#buffer(), 0, this.#asked?.size));
  }

  #buffer(): ArrayBuffer {
    return this.#free.pop() ?? new ArrayBuffer(this.#size);
  }

  /** Returns a small chunk joined with those that follow within {@linkcode MOMENT}, as a copy in a new buffer. */
  async #gathered(first: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const room = new Uint8Array(this.#buffer());
    let length = 0;
    let isOver = false;
    const pause = new Pause();
    const over = pause.wait(MOMENT);
    const end = performance.now() + MOMENT; // no timer fires while a source delivers without a pause
    const gather = async (value: Uint8Array<ArrayBuffer>): Promise<void> => {
      for (;;) {
        room.set(value, length);
        length += value.length;
        this.#free.push(value.buffer);
        if (performance.now() > end) return;
        const next = await this.#begin();
        if (isOver || next.done || next.value.length > room.length - length) return; // the next read takes it
        this.#took(next);
        value = next.value;
      }
    };
    await Promise.race([gather(first).catch(() => {}), over]); // the next read reports a failure
    isOver = true;
    pause.end();
    return room.subarray(0, length);
  }

  release(): void {
    const buffer = this.#given.shift();
    if (buffer) this.#free.push(buffer);
    this.#resume();
  }

  cancel(reason: unknown): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    this.#failure = { reason };
    this.#end();
    this.#resume();
    cancelQuietly(this.#reader, reason, this.#traits);
    return Promise.resolve();
  }

  #resume(): void {
    this.#onFree?.();
    this.#onFree = undefined;
  }

  #throwIfFailed(): void {
    if (this.#failure) throw this.#failure.reason;
  }

  #end(): undefined {
    if (this.#isOver) return;
    this.#isOver = true;
    active.bodies--;
  }
}

/** The bytes of the first reads: smaller than most chunks, and not a divisor of usual sizes. */
const FIRST = 600;
/** The maximum bytes around a chunk: its size in hexadecimal digits, two line ends, and a reserve. */
const FRAME = 20;
/** The bytes of a read in addition to a chunk: a read that is one byte too short would double the number of reads. */
const SPARE = 64;
/** The number of chunks of equal size after which reads take that size, since reads cannot shrink again. */
const CONSISTENT_CHUNKS = 4;

/**
 * The sizes of reads of a body in the chunked coding, for Deno's server. For each read, that server receives as many
 * bytes as the largest read so far, but returns at most the rest of a chunk, and buffers the others without limit. With
 * reads of 128 KiB, 25 bodies of 25 MB in chunks of 50 kB took 490 MB and 18 s, with these 120 MB and 4 s.
 *
 * So reads begin small, and grow to the size of a chunk once some chunks had that size.
 */
export class ChunkSizedReads {
  readonly #most: number;
  size: number = FIRST;
  #bytes = 0;
  #recent: number[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  gave(bytes: number): void {
    const isFirst = this.#bytes === 0;
    this.#bytes += bytes;
    // The first read of a chunk also takes its size line.
    if (bytes >= this.size - (isFirst ? FRAME : 0)) return;
    this.#recent = [...this.#recent, this.#bytes].slice(-CONSISTENT_CHUNKS);
    this.#bytes = 0;
    if (this.#recent.length < CONSISTENT_CHUNKS) return;
    this.size = Math.max(this.size, Math.min(this.#most, Math.min(...this.#recent) + SPARE));
  }
}

export class StreamBody extends GatheredBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #traits: StreamTraits;
  protected readonly ownsChunks: boolean;
  #isReading = false;

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, traits: StreamTraits) {
    super();
    this.#reader = reader;
    this.#traits = traits;
    this.ownsChunks = traits.ownsChunks;
    active.bodies++;
    this.goOn();
  }

  get isPaused(): boolean {
    return !this.#isReading;
  }

  protected goOn(): void {
    if (!this.#isReading) void this.#gather();
  }

  protected leave(reason: unknown): void {
    cancelQuietly(this.#reader, reason, this.#traits);
  }

  async #gather(): Promise<void> {
    this.#isReading = true;
    const isAtOnce = ({ length }: Uint8Array): boolean => length >= SMALL || this.gathered >= windowBytes() / 2;
    try {
      while (this.gathered < windowBytes() / 2 && !this.hasEnded && !this.failure) {
        const { done, value } = await this.#reader.read();
        if (this.failure) return;
        if (done) this.end();
        else this.take(value, isAtOnce);
      }
    } catch (error) {
      this.fail(streamFailure(error, this.#traits));
    } finally {
      this.#isReading = false;
    }
  }
}
