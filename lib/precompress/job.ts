import { createHash } from "node:crypto";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { DecompressionStream, decompressSync, ready } from "../codecs/mod.ts";
import { openAtomicFileAt, placeItself, whileUnshared } from "../files/internal.ts";
import type { AtomicFile } from "../files/mod.ts";
import type { ReadableStream } from "../streams/mod.ts";
import { sha256 } from "./content.ts";
import { codecOf, type DeltaFormat, isReadWhole, type VariantFormat } from "./formats.ts";
import { CHANGED, unreadableDictionary } from "./problem.ts";

/** A variant to make; plain data, for a worker. */
export interface Job {
  /** The path below the folder. */
  readonly path: string;
  readonly source: string;
  /** The temporary file for the variant, which the pool creates, and removes unless the variant is kept. */
  readonly temporary: string;
  readonly format: VariantFormat | DeltaFormat;
  readonly level: number;
  /** The file of the dictionary, for a delta: a previous version, or the dictionary of the site. */
  readonly dictionary?: string;
  readonly dictionarySha256?: string;
  /** The SHA-256 of the source when it was hashed: different content at compression time is an error. */
  readonly sha256: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  /** The maximum size of a variant that is kept. */
  readonly limit: number;
  /** Whether a larger variant is still completed in its temporary file, for the cache. */
  readonly keepsAny?: boolean;
  /** The file of the variant's entry in the cache, if any; its content is not trusted. */
  readonly entry?: string;
}

/** A progress message: the number of further bytes that the worker has read of its job's source. */
export interface Advance {
  readonly bytes: number;
}

export type Outcome = Result & {
  readonly elapsedMs: number;
  readonly isCached: boolean;
};

/** The result of a {@linkcode Job}. A variant with a size is complete in its temporary file. */
export type Result =
  | { readonly state: "kept"; readonly size: number; readonly sha256: string }
  | { readonly state: "unworthy"; readonly size?: number; readonly sha256?: string }
  | { readonly state: "failed"; readonly message: string };

/** Opens the temporary file of a job, which the pool has created; it will be ended but not committed, since names come later. */
export function openTemporary(
  { temporary, mode, mtimeMs }: Pick<Job, "temporary" | "mode" | "mtimeMs">,
): Promise<AtomicFile> {
  return openAtomicFileAt(placeItself(temporary), { temporary, mode, mtimeMs });
}

/** Calls `write` and completes a file except for its name, and discards it on failure. */
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

/** Requires that the source has not changed, which is possible while it is compressed. */
export async function requireAtRest({ source, size, mtimeMs }: Job): Promise<void> {
  const now = await stat(source);
  if (now.size !== size || now.mtimeMs !== mtimeMs) throw new Error(CHANGED);
}

export async function readDictionary({ dictionary, dictionarySha256 }: Job): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await whileUnshared(() => readFile(dictionary!)).catch((cause) => {
    throw unreadableDictionary(dictionary!, cause);
  });
  if (sha256(bytes) === dictionarySha256) return bytes;
  throw new Error(`its dictionary ${dictionary} changed during the run: run again`);
}

/** Whether compressed bytes decode to some content. Rejects if they are corrupt, or of more content. */
export async function decodesTo(
  { size, sha256 }: Pick<Job, "size" | "sha256">,
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
  format: Job["format"],
  dictionary: Uint8Array<ArrayBuffer> | undefined,
): Promise<boolean> {
  const hash = createHash("sha256");
  const decoder = new DecompressionStream(codecOf(format), { maxSize: size, ...(dictionary && { dictionary }) });
  for await (const chunk of bytes.pipeThrough(decoder)) hash.update(chunk);
  return hash.digest("hex") === sha256;
}

/** The bytes that contain the header of a gzip file, whose length is not limited, and the beginning of its data. */
const HEAD_SIZE = 128 * 1024;

/** Whether browsers decode a file to all of its `size` bytes; `length`: the bytes of the gzip data from its beginning. */
export async function isFileReadWhole(file: FileHandle, length: number, size: number): Promise<boolean> {
  const [head, tail] = [new Uint8Array(Math.min(length, HEAD_SIZE)), new Uint8Array(4)];
  await file.read(head, 0, head.length, 0);
  await file.read(tail, 0, tail.length, Math.max(0, length - tail.length));
  await ready(["gzip"], "decompress");
  return isReadWhole(head, tail, size, decompressSync);
}

/** Opens the gzip file at `path`, and returns whether browsers decode it to all of its `size` bytes. */
export async function isGzipReadWhole(path: string, size: number): Promise<boolean> {
  const file = await whileUnshared(() => open(path, "r"));
  try {
    return await isFileReadWhole(file, (await file.stat()).size, size);
  } finally {
    await file.close();
  }
}
