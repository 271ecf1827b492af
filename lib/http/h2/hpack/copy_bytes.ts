/**
 * Copies bytes.
 *
 * @param from The source.
 * @param start The offset of the first byte in it.
 * @param end The offset behind the last byte.
 * @param to The target.
 * @param at The offset in it to copy to.
 * @returns The offset behind the copy in the target.
 */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  // Up to some 60 bytes, a loop is faster than set() and the view that it needs.
  if (end - start > 64) to.set(from.subarray(start, end), at);
  else for (let i = start, j = at; i < end;) to[j++] = from[i++];
  return at + end - start;
}
