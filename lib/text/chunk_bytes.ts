import { bytesOfView, described } from "../streams/internal.ts";

/**
 * The bytes of a chunk, without a copy.
 *
 * @throws {TypeError} if it is no Uint8Array, other view or ArrayBuffer.
 */
export function bytesOfChunk(chunk: unknown): Uint8Array {
  if (ArrayBuffer.isView(chunk)) return bytesOfView(chunk);
  if (isArrayBuffer(chunk)) return new Uint8Array(chunk);
  const wayOut = typeof chunk === "string" ? ": pipe text through a TextEncoderStream first" : "";
  throw new TypeError(`a chunk must be a Uint8Array or another BufferSource, not ${described(chunk)}${wayOut}`);
}

/** Of any realm. */
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === "[object ArrayBuffer]";
}
