import { bytesOfView, kindOf } from "../streams/internal.ts";
import { withoutFrames } from "./failure.ts";
import { MAX_PIECES } from "./write_fully.ts";

/** The maximum size in bytes of a string's code unit in UTF-8. */
export const UTF8_WIDTH = 3;

const LINE_FEED = 10;
const encoder = new TextEncoder();

/** Returns the approximate bytes of a chunk in the queue. Never throws, since the sink would not get the error. */
export function sizeOfItem(item: Uint8Array | string): number {
  if (typeof item === "string") return item.length;
  return ArrayBuffer.isView(item) ? item.byteLength : 0;
}

/**
 * Converts chunks to text and bytes: other views become bytes, and a chunk larger than a file is split after lines,
 * into parts that fit a file.
 *
 * @throws {TypeError} if a chunk is neither.
 * @throws {RangeError} if a line is larger than a file may be, unless lines are split.
 */
export function checkedItems(
  items: readonly unknown[],
  { maxFileSize, cutsLines }: { readonly maxFileSize: number; readonly cutsLines: boolean },
): (Uint8Array | string)[] {
  const checked: (Uint8Array | string)[] = [];
  for (const item of items) {
    if (typeof item === "string" && item.length * UTF8_WIDTH <= maxFileSize) {
      checked.push(item);
      continue;
    }
    let rest = typeof item === "string" ? encoder.encode(item) : toBytes(item);
    for (; rest.length > maxFileSize; rest = rest.subarray(checked.at(-1)!.length)) {
      const length = rest.lastIndexOf(LINE_FEED, maxFileSize - 1) + 1;
      if (length === 0 && !cutsLines) requireSize(rest.indexOf(LINE_FEED) + 1 || rest.length, maxFileSize);
      checked.push(rest.subarray(0, length || characterEnd(rest, maxFileSize)));
    }
    checked.push(rest);
  }
  return checked;
}

/** Returns the end of the last complete UTF-8 character within `length` bytes; `length` if there is none. */
function characterEnd(bytes: Uint8Array, length: number): number {
  for (let end = length; end > 0 && end > length - 4; end--) if ((bytes[end] & 0xc0) !== 0x80) return end;
  return length;
}

function toBytes(item: unknown): Uint8Array {
  if (ArrayBuffer.isView(item)) return bytesOfView(item);
  const message = `Cannot write a chunk: it must be a Uint8Array or a string, not of type ${kindOf(item)}`;
  throw withoutFrames(new TypeError(message), toBytes);
}

/** @throws {RangeError} if a line of `size` bytes is larger than a file may be. */
export function requireSize(size: number, maxSize: number): void {
  if (size <= maxSize) return;
  throw new RangeError(`Cannot write a chunk of ${size} bytes: maxFileSize is ${maxSize}, and no line is split`);
}

/** The bytes of a batch, and of the buffer for small items. A quarter of that takes a third more time. */
export const BATCH_SIZE: number = 256 * 1024;
/** The maximum of queued and in-flight bytes: two batches, so that the queue fills while one is written. */
export const QUEUE_SIZE: number = 2 * BATCH_SIZE;
/**
 * The size in bytes from which an item is written without a copy. For smaller ones, a copy costs less than an entry of
 * the vector, which costs twice as much on Node and Bun below 1 KiB, and on Deno up to 64 KiB. But items that are never
 * copied need no buffer.
 */
const DIRECT_SIZE = 16 * 1024;
/** The bits of a code unit that tell a half of a surrogate pair. */
const [HALF, HIGH_HALF, LOW_HALF] = [0xfc00, 0xd800, 0xdc00];
/** The maximum bytes of strings that are joined and encoded: with a quarter, Bun's encoder takes a tenth more time. */
const RUN_SIZE = 64 * 1024;

/**
 * Items in a few pieces for one write: small ones are copied into a reused buffer, large ones are not copied. So the
 * pieces are valid until the next call of {@linkcode fill}.
 */
export class WriteBatch {
  readonly pieces: Uint8Array[] = [];
  length = 0;
  /** The index of the first item that is not included. */
  next = 0;
  /** Whether the next item is excluded because it would exceed the limit. */
  isLimited = false;
  #buffer: Uint8Array = new Uint8Array(0); // allocated on demand: large items are never copied
  /** The end of the bytes in the buffer; a piece begins at `#pieceStart` if that is smaller. */
  #end = 0;
  #pieceStart = 0;

  /** Takes whole items from index `from` on while there is room for them, up to `limit` bytes. */
  fill(items: readonly (Uint8Array | string)[], from: number, limit: number): void {
    this.clear();
    let next = from;
    while (next < items.length && this.pieces.length < MAX_PIECES - 1) {
      const taken = this.#takeRun(items, next, limit) || (this.#take(items[next], limit) ? 1 : 0);
      if (taken === 0) break;
      next += taken;
    }
    this.#endPiece();
    this.next = next;
  }

  clear(): void {
    this.pieces.length = 0;
    this.length = 0;
    this.isLimited = false;
    this.#end = this.#pieceStart = 0;
  }

  /**
   * Takes strings that certainly fit, joined: one encoder call for 180 lines of a log is faster than 180 calls. Returns
   * their number; 0 if the next item must be taken alone.
   */
  #takeRun(items: readonly (Uint8Array | string)[], from: number, limit: number): number {
    const most = Math.min(limit - this.length, this.#buffer.length - this.#end, RUN_SIZE) / UTF8_WIDTH;
    let text = "";
    let last = NaN; // the code unit at the end of the text
    let next = from;
    for (; next < items.length; next++) {
      const item = items[next];
      if (typeof item !== "string" || text.length + item.length > most) break;
      // Two halves of a surrogate pair, in two items, do not become one character.
      if ((item.charCodeAt(0) & HALF) === LOW_HALF && (last & HALF) === HIGH_HALF) break;
      text += item;
      if (item !== "") last = item.charCodeAt(item.length - 1);
    }
    if (next - from < 2) return 0;
    const { written } = encoder.encodeInto(text, this.#buffer.subarray(this.#end));
    this.#end += written;
    this.length += written;
    return next - from;
  }

  #take(item: Uint8Array | string, limit: number): boolean {
    if (typeof item !== "string") return this.#takeBytes(item, limit);
    if (item.length * UTF8_WIDTH >= DIRECT_SIZE) return this.#takeBytes(encoder.encode(item), limit);
    if (!this.#hasRoom(item.length * UTF8_WIDTH)) return false;
    const { written } = encoder.encodeInto(item, this.#buffer.subarray(this.#end));
    if (!this.#fits(written, limit)) return false;
    this.#end += written;
    this.length += written;
    return true;
  }

  #takeBytes(bytes: Uint8Array, limit: number): boolean {
    const size = bytes.length;
    if (!this.#fits(size, limit)) return false;
    if (size >= DIRECT_SIZE) {
      this.#endPiece();
      this.pieces.push(bytes);
    } else {
      if (!this.#hasRoom(size)) return false;
      this.#buffer.set(bytes, this.#end);
      this.#end += size;
    }
    this.length += size;
    return true;
  }

  #fits(size: number, limit: number): boolean {
    if (this.length + size <= limit) return true;
    this.isLimited = true;
    return false;
  }

  #hasRoom(size: number): boolean {
    if (this.#buffer.length === 0) this.#buffer = new Uint8Array(BATCH_SIZE);
    return size <= BATCH_SIZE - this.#end;
  }

  #endPiece(): void {
    if (this.#end > this.#pieceStart) this.pieces.push(this.#buffer.subarray(this.#pieceStart, this.#end));
    this.#pieceStart = this.#end;
  }
}
