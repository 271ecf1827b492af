import { trimmed } from "./fields.ts";

export interface ByteRange {
  readonly start: number;
  /** The offset after the last byte. */
  readonly end: number;
}

/** The maximum number of ranges: a field with more is not an honest client's (RFC 9110, section 17.15) and is ignored. */
const MAX_RANGES = 100;

const UNIT = /^bytes=/i;
const SPEC = /^([0-9]*)-([0-9]*)$/;

/** The maximum digits of a position; longer ones are leading zeros, malicious, or beyond every file. */
const MAX_SPEC_LENGTH = 256;

/**
 * Returns the parts of a representation of `size` bytes that a `Range` field requests; adjacent and overlapping ones
 * are merged.
 * @returns `"unsatisfiable"` if no range contains a byte of it; `undefined` if the field must be ignored: malformed, in
 * another unit, with more than 100 ranges, or for the end of an empty representation, which `Content-Range` cannot
 * express.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-14.1.2}
 */
export function parseRange(field: string, size: number): readonly ByteRange[] | "unsatisfiable" | undefined {
  if (!UNIT.test(field)) return undefined;
  const ranges: ByteRange[] = [];
  let count = 0;
  for (let start = "bytes=".length; start <= field.length;) {
    const comma = field.indexOf(",", start);
    const end = comma < 0 ? field.length : comma;
    const range = rangeOf(trimmed(field, start, end), size);
    if (range === "malformed" || (range !== "empty" && ++count > MAX_RANGES)) return undefined;
    if (typeof range === "object") ranges.push(range);
    start = end + 1;
  }
  if (count === 0) return undefined;
  if (ranges.length === 0) return "unsatisfiable";
  if (size === 0) return undefined;
  return ranges.length === 1 ? ranges : coalesced(ranges);
}

function rangeOf(spec: string, size: number): ByteRange | "empty" | "unsatisfiable" | "malformed" {
  if (spec === "") return "empty"; // members of a list may be empty (RFC 9110, section 5.6.1.2)
  const match = spec.length > MAX_SPEC_LENGTH ? null : SPEC.exec(spec);
  if (match === null || spec === "-") return "malformed";
  const [, first, last] = match;
  if (first === "") {
    const length = Number(last);
    return length === 0 ? "unsatisfiable" : { start: Math.max(0, size - length), end: size };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "malformed";
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(size, Number(last) + 1) };
}

/** Merges ranges. The parts keep the order of the request, as section 15.3.7.2 recommends. */
function coalesced(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const ascending = ranges.map((range, place) => ({ ...range, place })).sort((a, b) => a.start - b.start);
  const merged = [ascending[0]];
  for (const next of ascending.slice(1)) {
    const last = merged[merged.length - 1];
    if (next.start > last.end) {
      merged.push(next);
      continue;
    }
    const place = Math.min(last.place, next.place);
    merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, next.end), place };
  }
  return merged.sort((a, b) => a.place - b.place).map(({ start, end }) => ({ start, end }));
}

/** The parts of a `multipart/byteranges` body in addition to the bytes of the representation. */
export interface Multipart {
  readonly contentType: string;
  /** The size of the whole body in bytes. */
  readonly length: number;
  /** The boundary and header fields before each range's bytes. */
  readonly parts: readonly { readonly head: Uint8Array<ArrayBuffer>; readonly range: ByteRange }[];
  readonly tail: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();

/**
 * Makes the parts of a body with at least one range. Its boundary is 128 random bits, which no range contains.
 * @param size The size of the representation in bytes; `contentType` is the representation's, too.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-14.6}
 */
export function multipartByteRanges(ranges: readonly ByteRange[], size: number, contentType: string): Multipart {
  const boundary = randomBoundary();
  const parts = ranges.map((range, index) => {
    const { start, end } = range;
    const lines = [
      `${index === 0 ? "" : "\r\n"}--${boundary}`,
      `Content-Type: ${contentType}`,
      `Content-Range: bytes ${start}-${end - 1}/${size}`,
      "\r\n",
    ];
    return { head: encoder.encode(lines.join("\r\n")), range };
  });
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  const length = parts.reduce((sum, { head, range }) => sum + head.length + range.end - range.start, tail.length);
  return { contentType: `multipart/byteranges; boundary=${boundary}`, length, parts, tail };
}

function randomBoundary(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16).padStart(8, "0")).join("");
}
