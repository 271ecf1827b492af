import {
  asStreamPair,
  bytesOf,
  integer,
  joinBytes,
  milliseconds,
  positive,
  schema,
  type SchemaOf,
  wrongType,
} from "../streams/internal.ts";
import type { ReadableStream } from "../streams/mod.ts";
import { batchedTransform } from "./batched_transform.ts";
import type { BatchedWritableStream } from "./batched_writable_stream.ts";

/**
 * Options of {@linkcode coalesceBytes}.
 *
 * @example Chunks of at least 16 KiB
 * ```ts
 * import { coalesceBytes, type CoalesceBytesOptions } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const options: CoalesceBytesOptions = { size: 16_384 };
 * const kilobytes = ReadableStream.from(Array.from({ length: 32 }, () => new Uint8Array(1024)));
 * for await (const chunk of kilobytes.pipeThrough(coalesceBytes(options))) console.log(chunk.length); // 16384, 16384
 * ```
 */
export interface CoalesceBytesOptions {
  /**
   * The size in bytes from which a chunk is large enough to be passed on.
   *
   * @default 65536
   */
  size?: number;
  /**
   * The maximum time in ms that a chunk waits for others.
   *
   * @default until the end of the event loop's turn
   */
  maxDelay?: number;
  /**
   * The size in bytes from which a chunk is passed on before `maxDelay` has passed.
   *
   * @default the value of `size`
   */
  minBatch?: number;
}

export const coalesceBytesOptions: SchemaOf<CoalesceBytesOptions, "size"> = /* @__PURE__ */ schema(
  "coalesceBytes()",
  () => ({ size: integer(1, 2 ** 53 - 1, 65_536), maxDelay: milliseconds(), minBatch: positive() }),
);

/**
 * Makes a transform that joins small byte chunks into large ones, for destinations where each write is expensive.
 *
 * Chunks are joined until they have `size` bytes or more, the stream closes, or the current turn of the event loop
 * ends: chunks that arrive slowly are passed on as they arrive. With `maxDelay`, the first of the joined chunks waits
 * for at most that time instead of the turn's end. A chunk of `size` bytes or more passes without being copied. Chunks
 * are views or buffers.
 *
 * @returns the two ends, for `pipeThrough()`.
 * @throws {RangeError} if `size` is no integer above 0, or another option is out of its range. A chunk that is neither
 * a view nor a buffer, or is detached, errors the stream with a TypeError.
 * @example A hundred small chunks become three
 * ```ts
 * import { coalesceBytes } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const small = ReadableStream.from(Array.from({ length: 100 }, () => new Uint8Array(100)));
 * for await (const chunk of small.pipeThrough(coalesceBytes({ size: 4096 }))) console.log(chunk.length); // 4100, …
 * ```
 */
export function coalesceBytes(options: CoalesceBytesOptions = {}): {
  readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  writable: BatchedWritableStream<ArrayBufferView | ArrayBufferLike>;
} {
  const { size, maxDelay, minBatch } = coalesceBytesOptions(options);
  const pair = batchedTransform<ArrayBufferView | ArrayBufferLike, Uint8Array<ArrayBuffer>>(
    (chunks, enqueue) => joinChunks(chunks, size, enqueue),
    // An error here would reach only the writable end, so an invalid chunk gets a size here, and an error later.
    { highWaterMark: size, size: (chunk) => lengthOf(chunk) ?? size },
    { maxDelay, minBatch },
  );
  return asStreamPair(pair, Object as never);
}

/** Returns the length of a chunk in bytes; undefined if it is neither a view nor a buffer, or is detached. */
function lengthOf(chunk: unknown): number | undefined {
  try {
    return bytesOf(chunk)?.length;
  } catch {
    return undefined;
  }
}

function joinChunks(given: readonly unknown[], size: number, enqueue: (chunk: Uint8Array<ArrayBuffer>) => void): void {
  const chunks: Uint8Array[] = [];
  let first = 0;
  let length = 0;
  for (let i = 0; i < given.length; i++) {
    const bytes = bytesOf(given[i]);
    if (bytes === undefined) throw wrongType("a chunk", "a Uint8Array, another view or an ArrayBuffer", given[i]);
    chunks.push(bytes);
    if (chunks[i].length >= size && length > 0) {
      enqueue(join(chunks, first, i, length));
      first = i;
      length = 0;
    }
    length += chunks[i].length;
    if (length < size) continue;
    enqueue(join(chunks, first, i + 1, length));
    first = i + 1;
    length = 0;
  }
  if (length > 0) enqueue(join(chunks, first, chunks.length, length));
}

/** Joins the chunks from `start` to `end`; a single one stays as it is. */
function join(chunks: readonly Uint8Array[], start: number, end: number, length: number): Uint8Array<ArrayBuffer> {
  if (end - start === 1) return chunks[start] as Uint8Array<ArrayBuffer>;
  return joinBytes(chunks.slice(start, end), length);
}
