import { bytesOfView, kindOf } from "../streams/internal.ts";
import { withoutFrames } from "./failure.ts";

/** Most bytes of UTF-8 for a unit of a string. */
export const UTF8_WIDTH = 3;

const encoder = new TextEncoder();

/** Returns the size of a chunk in the queue: its bytes, or about as many. Never throws: a sink would not be told. */
export function sizeOfItem(item: Uint8Array | string): number {
  if (typeof item === "string") return item.length;
  return ArrayBuffer.isView(item) ? item.byteLength : 0;
}

/**
 * Chunks as text and bytes alone: other views become bytes.
 *
 * @throws {TypeError} if one is neither.
 * @throws {RangeError} if one is larger than a file may be.
 */
export function checkedItems(items: readonly unknown[], maxSize: number): (Uint8Array | string)[] {
  return items.map((item) => {
    if (typeof item === "string") {
      if (item.length * UTF8_WIDTH > maxSize) requireSize(encoder.encode(item).length, maxSize);
      return item;
    }
    const bytes = toBytes(item);
    if (bytes.length > maxSize) requireSize(bytes.length, maxSize);
    return bytes;
  });
}

function toBytes(item: unknown): Uint8Array {
  if (ArrayBuffer.isView(item)) return bytesOfView(item);
  const words = `Cannot write a chunk: it must be a Uint8Array or a string, not of type ${kindOf(item)}`;
  throw withoutFrames(new TypeError(words), toBytes);
}

/** @throws {RangeError} if an item of `size` bytes is larger than a file may be. */
export function requireSize(size: number, maxSize: number): void {
  if (size <= maxSize) return;
  throw new RangeError(`Cannot write a chunk of ${size} bytes: maxFileSize is ${maxSize}, and no chunk is split`);
}
