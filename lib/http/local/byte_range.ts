/** From a byte to another, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The one range of a Range field's value; undefined if it asks for none, for several, or for bytes beyond the size.
 *
 * @see {@link https://fetch.spec.whatwg.org/#simple-range-header-value}
 */
export function byteRange(value: string, size: number): ByteRange | undefined {
  const [, from, to] = /^bytes=[\t ]*([0-9]*)[\t ]*-[\t ]*([0-9]*)$/i.exec(value) ?? [];
  if (from === undefined || (from === "" && to === "")) return undefined;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return first <= last ? { first, last } : undefined;
}
