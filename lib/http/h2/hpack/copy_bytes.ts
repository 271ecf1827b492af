/**
 * Copies bytes.
 *
 * @param from The source.
 * @param start Where in it.
 * @param end Until where.
 * @param to The target.
 * @param at Where in it.
 * @returns Where the copy ends.
 */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  // Up to some 60 bytes, a loop is faster than set() and the view that it needs.
  if (end - start > 64) to.set(from.subarray(start, end), at);
  else for (let i = start, j = at; i < end;) to[j++] = from[i++];
  return at + end - start;
}
