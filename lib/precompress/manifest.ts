import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AtomicFile } from "../files/mod.ts";
import type { DeltaFormat, VariantFormat } from "./options.ts";

/** The manifest's name, in the folder that holds the variants. */
export const manifestName = ".millrace.json";

/** A variant of a file, as made or as decided against. */
export interface VariantRecord {
  /**
   * `kept`: it is there. `unworthy`: it saved too little to be there. `pending`: a run set out to make it and did not
   * come back: it may be there, and is made again.
   */
  readonly state: "kept" | "unworthy" | "pending";
  /** What it was made with; another value means that it is stale. */
  readonly settings: string;
  /** In bytes, if it is there. */
  readonly size?: number;
  /** Of its bytes, in hexadecimal, if it is there. */
  readonly sha256?: string;
}

/** The former version that a file's deltas are against. */
export interface DictionaryRecord {
  /** Its path in the former deploy. */
  readonly path: string;
  /** Of its content, in hexadecimal. */
  readonly sha256: string;
  /** The paths that it serves as a dictionary for, with the hash part as `*`: for `Use-As-Dictionary` (RFC 9842). */
  readonly match: string;
}

/** A file of the tree. */
export interface FileRecord {
  /** In bytes. */
  readonly size: number;
  /** Of its content, in hexadecimal. */
  readonly sha256: string;
  /** The former version that its deltas are against. */
  readonly dictionary?: DictionaryRecord;
  /** What was made of it, or decided against; none if it was not worth a try. */
  readonly variants: Readonly<Partial<Record<VariantFormat | DeltaFormat, VariantRecord>>>;
}

/** What a run knows of the tree, for the next run and for servers. */
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
 * @throws {TypeError} if there is one that cannot be read.
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, manifestName);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(text);
  } catch (cause) {
    throw new TypeError(`${path} is not a manifest: delete it and run again`, { cause });
  }
  const isReadable = manifest?.version === 1 && typeof manifest.files === "object" && manifest.files !== null &&
    Object.keys(manifest.files).every(isBelowFolder);
  if (isReadable) return manifest as Manifest;
  throw new TypeError(`${path} is not a manifest that this version reads: delete it and run again`);
}

/** Writes the manifest, in the same bytes wherever it is the same. */
export async function writeManifest(folder: string, copied: boolean, files: Map<string, FileRecord>): Promise<void> {
  const paths = [...files.keys()].sort();
  // One line a file keeps it readable in a diff.
  const lines = paths.map((path) => `${JSON.stringify(path)}: ${JSON.stringify(files.get(path))}`);
  const text = `{"version": 1, "copied": ${copied}, "files": {${lines.length ? `\n${lines.join(",\n")}\n` : ""}}}\n`;
  const path = join(folder, manifestName);
  if (await readFile(path, "utf8").catch(() => undefined) === text) return;
  const file = await AtomicFile.open(path);
  try {
    await file.write(new TextEncoder().encode(text));
    await file.commit();
  } finally {
    await file.discard();
  }
}

/** Whether a recorded path stays in the folder: files are removed by these names. */
function isBelowFolder(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split("/").includes("..");
}
