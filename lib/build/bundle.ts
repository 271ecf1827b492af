import { hasHash } from "./file_names.ts";

/** A file of a bundle, as Rollup, Rolldown and Vite describe it to plugins. */
export interface BundledFile {
  readonly type: "asset" | "chunk";
  /** Below the output folder. */
  readonly fileName: string;
  /** Of a chunk: its name with a placeholder for the hash, if it has one. */
  readonly preliminaryFileName?: string;
  /** Of an asset: the names that the tool made its own of; none if that was given. */
  readonly names?: readonly string[];
}

/** The options of an output, as these describe them. */
export interface BundleOptions {
  readonly dir?: string;
  /** The only file, without `dir`. */
  readonly file?: string;
  /** The pattern for names of assets. */
  readonly assetFileNames?: string | ((asset: BundledFile) => string);
}

/** Characters of hashes in base64url, base 36 and hexadecimal. */
const HASH_CHARACTER = "[\\w-]";

/** Whether the tool put a hash into a file's name. */
export function isNamedByHash(file: BundledFile, { assetFileNames }: BundleOptions): boolean {
  const { type, fileName, preliminaryFileName, names = [] } = file;
  if (type === "chunk") return preliminaryFileName !== undefined && preliminaryFileName !== fileName;
  // Its name was given: the tool has no part in that.
  if (names.length === 0 || assetFileNames === undefined) return false;
  const pattern = typeof assetFileNames === "function" ? assetFileNames(file) : assetFileNames;
  return hasHash(fileName, pattern, HASH_CHARACTER);
}
