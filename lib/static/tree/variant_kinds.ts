import type { DeltaFormat, VariantFormat } from "../../precompress/mod.ts";
import { extensions } from "../../precompress/mod.ts";
import type { ContentCoding } from "../../semantics/mod.ts";

/** A kind of file that stands beside others and holds a form of them. */
export interface VariantKind {
  /** Its place among {@linkcode variantKinds}. */
  readonly index: number;
  readonly coding: Exclude<ContentCoding, "identity">;
  /** The manifest's name of it. */
  readonly format: VariantFormat | DeltaFormat;
  readonly extension: string;
  /** The dictionary that is needed to read it: the file's former version, or that of the site. */
  readonly dictionary: "former" | "site" | undefined;
  /** What such a file begins with. */
  readonly magic: readonly number[];
}

/** What a delta of brotli begins with (RFC 9842, section 4). */
const DCB = [0xff, 0x44, 0x43, 0x42];
/** What a delta of zstd begins with (RFC 9842, section 5). */
const DCZ = [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00];

/** All kinds. */
export const variantKinds: readonly VariantKind[] = [
  kind(0, "br", "brotli", undefined, []), // a brotli stream begins with anything (RFC 7932)
  kind(1, "zstd", "zstd", undefined, [0x28, 0xb5, 0x2f, 0xfd]), // RFC 8878, section 3.1.1
  kind(2, "gzip", "gzip", undefined, [0x1f, 0x8b, 0x08]), // RFC 1952, section 2.3.1
  kind(3, "dcb", "dcb", "former", DCB),
  kind(4, "dcz", "dcz", "former", DCZ),
  kind(5, "dcb", "site-dcb", "site", DCB),
  kind(6, "dcz", "site-dcz", "site", DCZ),
];

function kind(
  index: number,
  coding: VariantKind["coding"],
  format: VariantKind["format"],
  dictionary: VariantKind["dictionary"],
  magic: readonly number[],
): VariantKind {
  return { index, coding, format, extension: extensions[format], dictionary, magic };
}
