import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";

/** Returns the bytes of a text in UTF-8. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Bytes cut into chunks at the given places, in any order; those beyond the end cut nothing. */
export function cutAt(bytes: Uint8Array<ArrayBuffer>, places: readonly number[]): Uint8Array<ArrayBuffer>[] {
  const sorted = [...places.filter((place) => place < bytes.length)].sort((a, b) => a - b);
  return [0, ...sorted].map((place, index) => bytes.subarray(place, sorted[index] ?? bytes.length));
}

/** Returns each byte for itself. */
export function bytewise(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}

/** Places to cut at, also the same one twice: chunks may be empty. */
export const places: fc.Arbitrary<number[]> = fc.array(fc.nat(60), { maxLength: 8 });

/** Returns the output of a transform for these chunks. */
export async function through<I, O>(chunks: readonly I[], transform: ReadableWritablePair<O, I>): Promise<O[]> {
  return await Array.fromAsync(ReadableStream.from(chunks).pipeThrough(transform));
}

/** Text cut into strings at the given places, within characters, too. */
export function cutText(text: string, places: readonly number[]): string[] {
  const sorted = [...places.filter((place) => place < text.length)].sort((a, b) => a - b);
  return [0, ...sorted].map((place, index) => text.slice(place, sorted[index] ?? text.length));
}
