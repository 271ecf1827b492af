import { type DeltaFormat, extensions, type VariantFormat } from "../../precompress/mod.ts";
import { type StoredCoding, storedCodings } from "../../semantics/mod.ts";

/** A form in which a file can be sent: unchanged, compressed, or as a delta against a former version. */
export interface Representation {
  readonly index: number;
  /** The absolute path to open; no part of it was a symbolic link in the scan. */
  readonly file: string;
  readonly coding: StoredCoding | "identity";
  readonly size: number;
  /** The SHA-256 of the bytes, in base64. */
  readonly sha256: string;
  /** Whether `sha256` is a hash of size and time instead, since the file was not read. */
  readonly isUnhashed: boolean;
  /** The time of the last change in ms since 1970; undefined if the manifest vouches for it without a check. */
  readonly mtimeMs: number | undefined;
  /** The inode number; undefined until it is checked. */
  readonly number: number | undefined;
  /** The SHA-256 in base64 of the dictionary that a `dcb` or `dcz` requires. */
  readonly dictionary: string | undefined;
}

export interface TreeFile {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** The time of the file's own last change, in ms since 1970. */
  readonly mtimeMs: number;
  /** The file itself. */
  readonly identity: Representation;
  /** The compressed forms that exist: `br`, `zstd` and `gzip`. */
  readonly variants: readonly Representation[];
  /** The deltas that exist: `dcb` and `dcz`. */
  readonly deltas: readonly Representation[];
}

/** The dictionary for deltas of the tree's pages. */
export interface SiteDictionary {
  /** The path below the folder, with `/` between its parts. */
  readonly path: string;
  /** The SHA-256 of the bytes, in base64. */
  readonly sha256: string;
}

/** Called for a path that is not served, or not as expected; it is below the folder, and empty for the folder itself. */
export type Warn = (path: string, message: string) => void;

/** A kind of file that stands beside an original and contains a form of it. */
export interface VariantKind {
  readonly index: number;
  readonly coding: StoredCoding;
  /** The kind's name in the manifest. */
  readonly format: VariantFormat | DeltaFormat;
  readonly extension: string;
  /** The dictionary that decoding needs: the file's former version, or that of the site; undefined if none. */
  readonly dictionary: "former" | "site" | undefined;
  /** The first bytes of a file of this kind. */
  readonly magic: readonly number[];
}

export const variantKinds: readonly VariantKind[] = Object.entries(extensions).map(([name, extension], index) => {
  const [coding, { magic }] = Object.entries(storedCodings).find(([, { format }]) => name.includes(format))!;
  const dictionary = name.startsWith("site") ? "site" : name.startsWith("dc") ? "former" : undefined;
  const format = name as VariantFormat | DeltaFormat;
  return { index, coding: coding as StoredCoding, format, extension, dictionary, magic };
});
