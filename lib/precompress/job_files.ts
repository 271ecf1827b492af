import { readFile, stat } from "node:fs/promises";
import { AtomicFile } from "../files/mod.ts";
import { sha256 } from "./content.ts";
import type { Job } from "./job.ts";
import { CHANGED } from "./problem.ts";

/** Opens the file that the variant of `job` is written to. */
export function openTemporary({ temporary, mode, mtimeMs }: Job): Promise<AtomicFile> {
  return AtomicFile.open(temporary, { temporary, mode, mtimeMs, followLinks: false });
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

/**
 * Reads the dictionary of `job`, which has one.
 *
 * @throws {Error} if it is not what it was.
 */
export async function readDictionary({ dictionary, dictionarySha256 }: Job): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readFile(dictionary!);
  if (sha256(bytes) === dictionarySha256) return bytes;
  throw new Error(`its dictionary ${dictionary} changed during the run: run again`);
}
