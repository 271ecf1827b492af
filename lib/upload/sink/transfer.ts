import { setImmediate } from "node:timers/promises";
import { Timer } from "../../timers/mod.ts";
import { writeStream } from "../../runtime/mod.ts";
import type { DigestAlgorithm } from "../../semantics/mod.ts";
import { type Announced, Digester, requireExpected, tellProgress, verifyDigests } from "../body/announced.ts";
import { type BodySource, fieldOf } from "../body/body_source.ts";
import { Deadlines, type Pace } from "../body/pace.ts";
import type { InnerOptions, SaveBodyOptions } from "../body/upload_options.ts";
import type { StreamTaker } from "./file_sink.ts";

/** The interval of looks at a file, in ms. */
const INTERVAL = 50;
const PIECE = 256 * 1024;
/** The bytes to read back before a pause: 2 ms or so. */
const TURN = 16 * PIECE;

/** Shared by all: what is read into it is hashed at once. */
let piece: Uint8Array | undefined;

/** A file that the runtime writes a body to by itself: what is to be known of the body is seen in it. */
export class FollowedFile implements Pace {
  readonly #sink: StreamTaker;
  readonly #announced: Announced;
  readonly #options: SaveBodyOptions;
  readonly #fail: (reason: unknown) => void;
  readonly #digester: Digester | undefined;
  readonly #timer: Timer = new Timer(() => this.#turn());
  readonly #start: number = performance.now();
  #size = 0;
  #digested = 0;

  /** @param fail Called with the reason if a limit is passed while the body is received. */
  constructor(sink: StreamTaker, announced: Announced, options: SaveBodyOptions, fail: (reason: unknown) => void) {
    this.#sink = sink;
    this.#announced = announced;
    this.#options = options;
    this.#fail = fail;
    const algorithms = new Set<DigestAlgorithm>([...announced.digests.values()].flatMap((some) => [...some.keys()]));
    if (options.digest !== undefined) algorithms.add(options.digest);
    if (algorithms.size > 0) this.#digester = new Digester(algorithms);
    const { maxBytes = Infinity, expectedBytes, onProgress } = options;
    const isWatched = maxBytes !== Infinity || expectedBytes !== undefined || onProgress !== undefined;
    if (isWatched || this.#digester) this.#timer.start(INTERVAL);
  }

  /** Bytes written so far; too many are reported elsewhere, or at the end. */
  get bytes(): number {
    return this.#sink.size();
  }

  /** All the time: while the disk keeps the runtime from reading on, no timer fires that could look at it. */
  get waited(): number {
    return performance.now() - this.#start;
  }

  /** Returns the digests, once all is written. @throws {UploadError} `TOO_LARGE`, or `DIGEST_MISMATCH`. */
  async finish(): Promise<ReadonlyMap<DigestAlgorithm, string>> {
    this.stop();
    this.#look();
    while (this.#digester && this.#digested < this.#size) {
      this.#digest();
      if (this.#digested < this.#size) await setImmediate();
    }
    const actual = this.#digester?.finish() ?? new Map<DigestAlgorithm, string>();
    for (const [field, expected] of this.#announced.digests) verifyDigests(field, expected, actual);
    return actual;
  }

  stop(): void {
    this.#timer.stop();
  }

  #turn(): void {
    try {
      this.#look();
      this.#digest();
      this.#timer.start(this.#digester && this.#digested < this.#size ? 0 : INTERVAL);
    } catch (error) {
      this.#fail(error);
    }
  }

  #look(): void {
    const size = this.#sink.size();
    if (size === this.#size) return;
    this.#size = size;
    tellProgress(size, this.#announced, this.#options);
  }

  /** Takes what was written since into the digests, or a part of it. */
  #digest(): void {
    if (!this.#digester) return;
    piece ??= new Uint8Array(PIECE);
    const end = Math.min(this.#size, this.#digested + TURN);
    while (this.#digested < end) {
      const wanted = Math.min(PIECE, end - this.#digested);
      const length = this.#sink.readBack(piece.subarray(0, wanted), this.#digested);
      if (length === 0) throw new Error(`The file became shorter than the ${this.#size} bytes it had`);
      this.#digester.update([piece.subarray(0, length)]);
      this.#digested += length;
    }
  }
}

/**
 * The stream of a body that need not pass through JavaScript: its connection ends it at the length that was announced,
 * and what else is to be known of it can be seen in the file. Of a body in chunks some 50 MB might pass the limit before
 * the file is looked at.
 */
export function unseenStream(source: BodySource, options: SaveBodyOptions): ReadableStream<Uint8Array> | undefined {
  if (writeStream === undefined || options.decode) return undefined;
  if (!(source instanceof Request) || source.bodyUsed || !source.body || source.body.locked) return undefined;
  return fieldOf(source, "content-length") === undefined ? undefined : source.body;
}

/**
 * Writes a stream to a file, without a detour through JavaScript where the runtime can do that; makes the requested or
 * announced digests. It takes a tenth of the memory that reading it takes on Bun, and half of the time.
 */
export async function transfer(
  stream: ReadableStream<Uint8Array>,
  sink: StreamTaker,
  announced: Announced,
  options: SaveBodyOptions & InnerOptions,
): Promise<{ readonly bytes: number; readonly digests: ReadonlyMap<DigestAlgorithm, string> }> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const file = new FollowedFile(sink, announced, options, stop);
  const deadlines = new Deadlines(options, file, stop);
  try {
    const bytes = await Promise.race([sink.writeStream(stream), stopped]);
    deadlines.stop();
    requireExpected(bytes, announced);
    return { bytes, digests: await Promise.race([file.finish(), stopped]) };
  } finally {
    deadlines.stop();
    file.stop();
  }
}
