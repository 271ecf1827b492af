import type { ByteRange } from "./byte_ranges.ts";

/** The parts of a `multipart/byteranges` body besides the bytes of the representation. */
export interface Multipart {
  /** The response's `Content-Type`. */
  readonly contentType: string;
  /** Of the whole body, in bytes. */
  readonly length: number;
  /** The boundary and header fields before each range's bytes. */
  readonly parts: readonly { readonly head: Uint8Array<ArrayBuffer>; readonly range: ByteRange }[];
  /** The closing boundary. */
  readonly tail: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();

/**
 * The frame of a body of several ranges. Its boundary is random, 128 bits of it: what is in the ranges need not be
 * known for it to be safe.
 *
 * @param ranges Within the representation, at least one.
 * @param size The representation's, in bytes.
 * @param contentType The representation's.
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
