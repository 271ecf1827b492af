import type { DeltaFormat, VariantFormat } from "./formats.ts";

/**
 * A variant of a file, made or rejected.
 *
 * @example Count what was decided against
 * ```ts
 * import { precompress, readManifest, type VariantRecord } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["gzip"], minSaving: 0.99 });
 * const variant: VariantRecord | undefined = (await readManifest("dist"))?.files["index.html"]?.variants.gzip;
 * console.log(variant?.state); // unworthy
 * ```
 */
export interface VariantRecord {
  /** `kept`: a run wrote it. `found`: a compressed form that no run wrote has its place. `unworthy`: it saved too little; with a hash, it is an obsolete variant that could not be removed. */
  readonly state: "kept" | "found" | "unworthy";
  /** The settings of the variant, which is made again if they change. */
  readonly settings: string;
  /** The size in bytes, if the variant exists. */
  readonly size?: number;
  /** The SHA-256 of its bytes, in hexadecimal, if the variant exists. */
  readonly sha256?: string;
}

/** Whether a run wrote the variant, and it exists. */
export function isWritten({ state, sha256 }: VariantRecord): boolean {
  return state !== "found" && sha256 !== undefined;
}

/**
 * The former version of a file against which its deltas are made.
 *
 * @example List which file has which dictionary
 * ```ts
 * import { type DictionaryRecord, precompress, readManifest } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { previous: "dist-deployed", formats: ["zstd"], include: ["assets/*.js"] });
 * const files = Object.values((await readManifest("dist"))?.files ?? {});
 * const dictionaries: DictionaryRecord[] = files.flatMap(({ dictionary }) => dictionary ?? []);
 * console.log(dictionaries.map(({ match }) => match).join()); // assets/app-*.js
 * ```
 */
export interface DictionaryRecord {
  /** The file's path in the former deploy. */
  readonly path: string;
  /** The SHA-256 of its content, in hexadecimal. */
  readonly sha256: string;
  /** The paths that it is a dictionary for, with `*` instead of the hash: the value of `Use-As-Dictionary` (RFC 9842). */
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
 * console.log(files.reduce((sum, file) => sum + sent(file), 0) > 0); // true
 * ```
 */
export interface FileRecord {
  /** The size in bytes. */
  readonly size: number;
  /** The SHA-256 of its content, in hexadecimal. */
  readonly sha256: string;
  /** The former version against which its deltas are made. */
  readonly dictionary?: DictionaryRecord;
  /** The earlier versions, latest first, if it has deltas against them. */
  readonly olderDictionaries?: readonly DictionaryRecord[];
  /** The SHA-256, in hexadecimal, of the site's dictionary against which its site deltas are made. */
  readonly siteDictionary?: string;
  /** Hashes of the source pages and of the patterns for them; only for the site's dictionary, which a run made. */
  readonly madeOf?: string;
  /** Whether its content never changes under its name; undefined if no run had the option `immutable`. */
  readonly immutable?: boolean;
  /** The file's path without links to folders, if it has links: its variants stay there when the links are removed. */
  readonly place?: string;
  /** Whether the copy had the file before any run, so that no run changes or removes it. */
  readonly found?: true;
  /** Whether the file differs, or the last run could not read it: servers do not use the record, which is of earlier content. */
  readonly unread?: true;
  /** The variants made or rejected; none if the file was skipped. */
  readonly variants: Readonly<Partial<Record<VariantFormat | DeltaFormat, VariantRecord>>>;
}

/**
 * The records of a run about the files of a folder, for the next run and for servers.
 *
 * @example Find a file's hash without reading it
 * ```ts
 * import { type Manifest, precompress, readManifest } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { formats: ["gzip"] });
 * const manifest: Manifest | undefined = await readManifest("dist");
 * console.log(manifest?.version, manifest?.files["index.html"]?.sha256.length); // 1 64
 * ```
 */
export interface Manifest {
  /** The version of the manifest's format. */
  readonly version: 1;
  /** Whether the files themselves were copied to the folder of the manifest. */
  readonly copied: boolean;
  /** The files by their path below the folder. */
  readonly files: Readonly<Record<string, FileRecord>>;
}
