import { readFile, stat } from "node:fs/promises";
import { openAtomicFileAt, placeItself } from "../files/internal.ts";
import type { AtomicFile } from "../files/mod.ts";
import { sha256 } from "./content.ts";
import type { DeltaFormat, VariantFormat } from "./formats.ts";
import { CHANGED } from "./problem.ts";

/** A variant to make; plain data, for a worker. */
export interface Job {
  /** Path below the folder. */
  readonly path: string;
  readonly source: string;
  /** The file to write the variant to: the pool makes this file, and removes it unless the variant is kept. */
  readonly temporary: string;
  readonly format: VariantFormat | DeltaFormat;
  readonly level: number;
  /** The file of the dictionary, for a delta: a previous version, or the dictionary of the site. */
  readonly dictionary?: string;
  readonly dictionarySha256?: string;
  /** The SHA-256 of the source, as hashed: other content at compression time is an error. */
  readonly sha256: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  /** A variant of more bytes than this is not kept. */
  readonly limit: number;
  /** Whether one of more bytes is completed in its temporary file all the same, for the cache. */
  readonly keepsAny?: boolean;
  /** The file of the variant's entry in the cache, if there is one: it may hold anything. */
  readonly entry?: string;
}

/** Tells that a worker is that many bytes further in its job's source. */
export interface Advance {
  readonly bytes: number;
}

/** The result of a {@linkcode Job}, and how long it took in ms. */
export type Outcome = Result & {
  readonly elapsedMs: number;
  readonly isCached: boolean;
};

/** The result of a {@linkcode Job}. A variant with a size is complete in its temporary file. */
export type Result =
  | { readonly state: "kept"; readonly size: number; readonly sha256: string }
  | { readonly state: "unworthy"; readonly size?: number; readonly sha256?: string }
  | { readonly state: "failed"; readonly message: string };

/** Opens the file of a job, which the pool has made, to be ended and not committed: it gets its name with others. */
export function openTemporary(
  { temporary, mode, mtimeMs }: Pick<Job, "temporary" | "mode" | "mtimeMs">,
): Promise<AtomicFile> {
  return openAtomicFileAt(placeItself(temporary), { temporary, mode, mtimeMs });
}

/** Has `write` write all of a file but its name, and discards it if that fails. */
export async function complete(file: AtomicFile, job: Job, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await requireAtRest(job);
    await file.end();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Compressing takes long enough for the source to change meanwhile. */
export async function requireAtRest({ source, size, mtimeMs }: Job): Promise<void> {
  const now = await stat(source);
  if (now.size !== size || now.mtimeMs !== mtimeMs) throw new Error(CHANGED);
}

export async function readDictionary({ dictionary, dictionarySha256 }: Job): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readFile(dictionary!);
  if (sha256(bytes) === dictionarySha256) return bytes;
  throw new Error(`its dictionary ${dictionary} changed during the run: run again`);
}
