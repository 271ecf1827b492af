import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { AtomicFile } from "../files/mod.ts";
import { checkedRecord, isBelowFolder } from "./file_records.ts";
import type { DeltaFormat, VariantFormat } from "./options.ts";
import { manifestName } from "./own_names.ts";

/**
 * A variant of a file, as made or as decided against.
 *
 * @example Count what was decided against
 * ```ts
 * import { precompress, readManifest, type VariantRecord } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["gzip"], minSaving: 0.99 });
 * const isUnworthy = (variant?: VariantRecord): boolean => variant?.state === "unworthy";
 * const files = Object.values((await readManifest("dist"))?.files ?? {});
 * console.log(files.some(({ variants }) => isUnworthy(variants.gzip))); // true
 * ```
 */
export interface VariantRecord {
  /**
   * `kept`: a run wrote it. `found`: somebody else's compressed form of the file has its place, and stays. `unworthy`: it
   * saved too little to be there.
   */
  readonly state: "kept" | "found" | "unworthy";
  /** The settings that it was made with, or would have been; other settings mean that it is stale. */
  readonly settings: string;
  /** In bytes, if it is there. */
  readonly size?: number;
  /** Of its bytes, in hexadecimal, if it is there. */
  readonly sha256?: string;
}

/**
 * The former version that a file's deltas are against.
 *
 * @example List which file has which dictionary
 * ```ts
 * import { type DictionaryRecord, precompress, readManifest } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { previous: "dist-deployed", formats: ["zstd"], include: ["assets/*.js"] });
 * const told = ({ match, sha256 }: DictionaryRecord): string => `${match} ${sha256.length}`;
 * for (const { dictionary } of Object.values((await readManifest("dist"))?.files ?? {})) {
 *   if (dictionary) console.log(told(dictionary)); // assets/app-*.js 64
 * }
 * ```
 */
export interface DictionaryRecord {
  /** Its path in the former deploy. */
  readonly path: string;
  /** Of its content, in hexadecimal. */
  readonly sha256: string;
  /** The paths that it serves as a dictionary for, with the hash part as `*`: for `Use-As-Dictionary` (RFC 9842). */
  readonly match: string;
}

/**
 * A file of the tree.
 *
 * @example Sum up what visitors download
 * ```ts
 * import { type FileRecord, precompress, readManifest } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["brotli"] });
 * const sent = ({ size, variants }: FileRecord): number => variants.brotli?.size ?? size;
 * const files = Object.values((await readManifest("dist"))?.files ?? {});
 * const [before, after] = [(file: FileRecord) => file.size, sent].map((of) => files.reduce((sum, file) => sum + of(file), 0));
 * console.log(after < before); // true
 * ```
 */
export interface FileRecord {
  /** In bytes. */
  readonly size: number;
  /** Of its content, in hexadecimal. */
  readonly sha256: string;
  /** The former version that its deltas are against. */
  readonly dictionary?: DictionaryRecord;
  /** The SHA-256, in hexadecimal, of the dictionary of the site that its site deltas are against. */
  readonly siteDictionary?: string;
  /** Only of the dictionary of the site, which a run made: a hash of what it was made of, in hexadecimal. */
  readonly madeOf?: string;
  /** Whether the file itself was in the copy already, put there by somebody else: no run changes or removes that. */
  readonly found?: true;
  /** What was made of it, or decided against; none if it was not worth a try. */
  readonly variants: Readonly<Partial<Record<VariantFormat | DeltaFormat, VariantRecord>>>;
}

/**
 * What a run knows of the tree, for the next run and for servers.
 *
 * @example Find a file's hash without reading it
 * ```ts
 * import { type Manifest, precompress, readManifest } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["gzip"] });
 * const manifest: Manifest | undefined = await readManifest("dist");
 * console.log(manifest?.version, manifest?.files["index.html"].sha256.length); // 1 64
 * ```
 */
export interface Manifest {
  /** Of the manifest's own form. */
  readonly version: 1;
  /** Whether the files themselves were copied to where the manifest is. */
  readonly copied: boolean;
  /** By path below the folder. */
  readonly files: Readonly<Record<string, FileRecord>>;
}

/**
 * The manifest in `folder`, if there is one.
 *
 * @param folder The folder that the variants are in.
 * @returns What it says; undefined if there is none.
 * @throws {TypeError} if there is one that cannot be read.
 * @example See whether a folder was precompressed
 * ```ts
 * import { precompress, readManifest } from "@millrace/streams/precompress";
 *
 * console.log(await readManifest("dist")); // undefined
 * await precompress("dist", { formats: ["gzip"] });
 * console.log("index.html" in (await readManifest("dist"))!.files); // true
 * ```
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const text = await readManifestText(folder);
  return text === undefined ? undefined : parseManifest(text, join(folder, manifestName));
}

/** The manifest in `folder` as it is written; undefined if there is none. */
export async function readManifestText(folder: string): Promise<string | undefined> {
  try {
    const path = join(folder, manifestName);
    if (!(await stat(path)).isFile()) throw new TypeError(`${path} is not a manifest: remove it and run again`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/**
 * What the text of a manifest says. Records that make no sense are left out.
 *
 * @param path The manifest's path, for messages.
 * @throws {TypeError} if it is none.
 */
export function parseManifest(text: string, path: string): Manifest {
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(text);
  } catch (cause) {
    throw new TypeError(`${path} is not a manifest: delete it and run again`, { cause });
  }
  const { version, copied, files } = manifest ?? {};
  if (version !== 1 || typeof files !== "object" || files === null || !Object.keys(files).every(isBelowFolder)) {
    throw new TypeError(`${path} is not a manifest that this version reads: delete it and run again`);
  }
  // Without a prototype: files may be called "constructor" or "__proto__".
  const checked: Record<string, FileRecord> = Object.create(null);
  for (const [file, value] of Object.entries(files)) {
    const record = checkedRecord(value);
    if (record) checked[file] = record;
  }
  return { version, copied: copied === true, files: checked };
}

/** The text of a manifest; the same for the same files. */
export function manifestText(copied: boolean, files: ReadonlyMap<string, FileRecord>): string {
  const paths = [...files.keys()].sort();
  // One line a file keeps it readable in a diff.
  const lines = paths.map((path) => `${JSON.stringify(path)}: ${JSON.stringify(files.get(path))}`);
  return `{"version": 1, "copied": ${copied}, "files": {${lines.length ? `\n${lines.join(",\n")}\n` : ""}}}\n`;
}

/** Writes the text of a manifest. */
export async function writeManifest(folder: string, text: string): Promise<void> {
  const file = await AtomicFile.open(join(folder, manifestName), { followLinks: false });
  try {
    await file.write(new TextEncoder().encode(text));
    await file.commit();
  } finally {
    await file.discard();
  }
}
