import type { FileContent } from "./file_content.ts";
import type { VariantKind } from "./variant_kinds.ts";

const HASH_LENGTH = 32;
/** In bytes: the largest zstd window of this content coding (RFC 9659). */
const LARGEST_WINDOW = 8 * 1024 * 1024;

/** The SHA-256 of the dictionary that a delta says it needs, in base64. */
export function dictionaryIn({ head }: FileContent, { magic }: VariantKind): string {
  return Buffer.from(head.subarray(magic.length, magic.length + HASH_LENGTH)).toString("base64");
}

/** Returns the reason why a file cannot be a variant of one with `size` bytes, found without decompressing it. */
export function faultInBytes(content: FileContent, kind: VariantKind, size: number): string | undefined {
  const { coding, dictionary, magic } = kind;
  const shortest = magic.length + (dictionary ? HASH_LENGTH : 0);
  if (content.size <= shortest || !magic.every((byte, i) => content.head[i] === byte)) return `it is not ${coding}`;
  if (coding === "zstd" && windowInZstd(content) > LARGEST_WINDOW) {
    return "its window has more than the 8 MiB that browsers take";
  }
  const declared = coding === "gzip" ? sizeInGzip(content) : coding === "zstd" ? sizeInZstd(content) : undefined;
  const modulus = coding === "gzip" ? 2 ** 32 : Infinity;
  if (declared === undefined || declared === size % modulus) return undefined;
  return `it holds ${declared} bytes where the file has ${size}, or ends early`;
}

/** The size of what is compressed, modulo 2 to the 32nd: the last 4 bytes (RFC 1952, section 2.3.1). */
function sizeInGzip({ tail }: FileContent): number {
  return new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
}

/** The size of what is compressed, if the frame's header says it (RFC 8878, section 3.1.1.1). */
function sizeInZstd({ head }: FileContent): number | undefined {
  const descriptor = head[4];
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const start = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const form = descriptor >> 6;
  if (form === 0 && !isSingleSegment) return undefined;
  if (head.length < start + 2 ** form) return undefined;
  if (form === 0) return view.getUint8(start);
  if (form === 1) return view.getUint16(start, true) + 256;
  return form === 2 ? view.getUint32(start, true) : Number(view.getBigUint64(start, true));
}

/** The size of the window in bytes (RFC 8878, section 3.1.1.1.2); a frame of one segment has one as large as its content. */
function windowInZstd(content: FileContent): number {
  const [, , , , descriptor, exponents] = content.head;
  if ((descriptor & 0x20) !== 0) return sizeInZstd(content) ?? 0;
  const base = 2 ** (10 + (exponents >> 3));
  return base + base / 8 * (exponents & 7);
}
