import { type DeltaFormat, extensions, type VariantFormat } from "../../precompress/mod.ts";
import { type StoredCoding, storedCodings } from "../../semantics/mod.ts";

/** A form in which a file can be sent: as it is, compressed, or as a delta against a former version. */
export interface Representation {
  readonly index: number;
  /** The absolute path to open; no part of it was a symbolic link when it was found. */
  readonly file: string;
  readonly coding: StoredCoding | "identity";
  /** In bytes. */
  readonly size: number;
  /** The SHA-256 of its bytes, in base64. */
  readonly sha256: string;
  /** Whether that stands for its size and time instead: it was not read. */
  readonly isUnhashed: boolean;
  /** The time of its last change, in ms since 1970; undefined if the manifest vouches for it without a check. */
  readonly mtimeMs: number | undefined;
  /** The number that tells the file from others; undefined if it was not looked at. */
  readonly number: number | undefined;
  /** The SHA-256 of the dictionary that a `dcb` or `dcz` needs, in base64. */
  readonly dictionary: string | undefined;
}

/** A file of the tree with all that can be sent for it. */
export interface TreeFile {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** The time of the file's own last change, in ms since 1970. */
  readonly mtimeMs: number;
  /** The file itself. */
  readonly identity: Representation;
  /** Its compressed forms: `br`, `zstd` and `gzip`, as far as there are such. */
  readonly variants: readonly Representation[];
  /** Its deltas: `dcb` and `dcz`, as far as there are such. */
  readonly deltas: readonly Representation[];
}

/** The dictionary that the pages of a tree have deltas against. */
export interface SiteDictionary {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** The SHA-256 of its bytes, in base64. */
  readonly sha256: string;
}

/** Called for a path that is left out or not as expected; it is below the folder, empty for the folder itself. */
export type Warn = (path: string, message: string) => void;

/** A kind of file that stands beside others and holds a form of them. */
export interface VariantKind {
  readonly index: number;
  readonly coding: StoredCoding;
  /** The manifest's name of it. */
  readonly format: VariantFormat | DeltaFormat;
  readonly extension: string;
  /** The dictionary that is needed to read it: the file's former version, or that of the site. */
  readonly dictionary: "former" | "site" | undefined;
  /** The bytes that such a file begins with. */
  readonly magic: readonly number[];
}

export const variantKinds: readonly VariantKind[] = Object.entries(extensions).map(([name, extension], index) => {
  const [coding, { magic }] = Object.entries(storedCodings).find(([, { format }]) => name.includes(format))!;
  const dictionary = name.startsWith("site") ? "site" : name.startsWith("dc") ? "former" : undefined;
  const format = name as VariantFormat | DeltaFormat;
  return { index, coding: coding as StoredCoding, format, extension, dictionary, magic };
});
