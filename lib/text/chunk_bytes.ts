import { bytesOfView, described } from "../streams/internal.ts";

/**
 * The bytes of a chunk, without a copy.
 *
 * @throws {TypeError} if it is no Uint8Array, other view or ArrayBuffer.
 */
export function bytesOfChunk(chunk: unknown): Uint8Array {
  const bytes = bytesOf(chunk);
  if (bytes !== undefined) return bytes;
  const wayOut = typeof chunk === "string" ? ": pipe text through a TextEncoderStream first" : "";
  throw new TypeError(`a chunk must be a Uint8Array or another BufferSource, not ${described(chunk)}${wayOut}`);
}

/**
 * A chunk of text as it is, and the bytes of any other one, without a copy.
 *
 * @throws {TypeError} if it is neither text nor a Uint8Array, other view or ArrayBuffer.
 */
export function textOrBytes(chunk: unknown): string | Uint8Array {
  if (typeof chunk === "string") return chunk;
  const bytes = bytesOf(chunk);
  if (bytes !== undefined) return bytes;
  throw new TypeError(`a chunk must be a string, a Uint8Array or another BufferSource, not ${described(chunk)}`);
}

function bytesOf(chunk: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(chunk)) return bytesOfView(chunk);
  return isArrayBuffer(chunk) ? new Uint8Array(chunk) : undefined;
}

/** Of any realm. */
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === "[object ArrayBuffer]";
}
