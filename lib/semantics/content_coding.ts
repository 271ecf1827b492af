import type { Format } from "../codecs/mod.ts";

/** The codings that are undone without a dictionary, with the codecs' names of formats: RFC 9110, 8.4.1; RFC 8878. */
export const undoableFormats = { gzip: "gzip", deflate: "deflate", br: "brotli", zstd: "zstd" } as const;

/** A coding that is undone without a dictionary. */
export type UndoableCoding = keyof typeof undoableFormats;

/** A coding that files are stored in; `dcb` and `dcz` are brotli and zstd with a dictionary (RFC 9842). */
export type StoredCoding = keyof StoredFormats;

/** A content coding by its name in HTTP. */
export type ContentCoding = "identity" | UndoableCoding | StoredCoding;

/** The facts about a coding that files are stored in. */
interface CodingTraits<F extends Format = Format> {
  readonly format: F;
  /** The extension of files in the coding, as nginx, Caddy and others expect it. */
  readonly extension: string;
  /** The first bytes of data in the coding. */
  readonly magic: readonly number[];
}

type StoredFormats = { br: "brotli"; zstd: "zstd"; gzip: "gzip"; dcb: "dcb"; dcz: "dcz" };
type StoredTraits = { readonly [C in StoredCoding]: CodingTraits<StoredFormats[C]> };

/** The codings that files are stored in, best first. */
export const storedCodings: StoredTraits = {
  br: traits("brotli", ".br", []), // a brotli stream has no magic number (RFC 7932)
  zstd: traits("zstd", ".zst", [0x28, 0xb5, 0x2f, 0xfd]), // RFC 8878, section 3.1.1
  gzip: traits("gzip", ".gz", [0x1f, 0x8b, 0x08]), // RFC 1952, section 2.3.1
  dcb: traits("dcb", ".dcb", [0xff, 0x44, 0x43, 0x42]), // RFC 9842, section 4
  dcz: traits("dcz", ".dcz", [0x5e, 0x2a, 0x4d, 0x18, 0x20, 0x00, 0x00, 0x00]), // RFC 9842, section 5
};

function traits<F extends Format>(format: F, extension: string, magic: readonly number[]): CodingTraits<F> {
  return { format, extension, magic };
}

/** The codings by the names that fields have for them, in lower case. */
const names: ReadonlyMap<string, ContentCoding> = new Map<string, ContentCoding>([
  ["identity", "identity"],
  ["x-gzip", "gzip"], // 8.4.1.3
  ...Object.keys({ ...undoableFormats, ...storedCodings }).map((name) => [name, name] as [string, ContentCoding]),
]);

/** Returns the coding with a name, in any case; undefined if it is unknown. */
export function codingNamed(name: string): ContentCoding | undefined {
  return names.get(name) ?? names.get(name.toLowerCase());
}

/** Whether a coding is undone without a dictionary. */
export function isUndoable(coding: ContentCoding | undefined): coding is UndoableCoding {
  return coding !== undefined && Object.hasOwn(undoableFormats, coding);
}

/** Each run of spaces is matched once, at its start: otherwise long runs would take quadratic time. */
const OUTER_SPACE = /^[ \t]+|(?<![ \t])[ \t]+$/g;

/** Lists the codings of `Content-Encoding` as applied, without `identity`, in lower case if unknown (RFC 9110, 8.4). */
export function contentCodings(field: string): (UndoableCoding | { readonly unknown: string })[] {
  const whole = codingNamed(field);
  if (isUndoable(whole)) return [whole]; // the usual case
  const found: (UndoableCoding | { readonly unknown: string })[] = [];
  for (const element of field.split(",")) {
    const name = element.replace(OUTER_SPACE, "").toLowerCase();
    if (name === "" || name === "identity") continue; // empty elements do not count (section 5.6.1.2)
    const coding = codingNamed(name);
    found.push(isUndoable(coding) ? coding : { unknown: name });
  }
  return found;
}
