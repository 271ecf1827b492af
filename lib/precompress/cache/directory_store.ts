import { appendFile, lstat, open, readdir, readFile, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  copyToTemporary,
  type FileIdentity,
  identityIn,
  ignoreMissing,
  makeDirectory,
  removeIfSame,
  removeTemporary,
  renameFile,
  whileUnshared,
  writeAtomically,
} from "../../files/internal.ts";
import { isTemporaryName, removeAbandonedTemporaries, temporaryPath } from "../../files/mod.ts";
import { explainPlace } from "../problem.ts";
import { type CacheLimits, type CacheStore, entryPath, type StoredEntry } from "./cache_store.ts";
import { TRAILER_SIZE, trailerIn } from "./entry.ts";

interface Candidate {
  readonly path: string;
  readonly key: string;
  readonly size: number;
  readonly usedAt: number;
}

const FOLDER = /^[0-9a-f]{2}$/;
const NAME = /^([0-9a-f]{62})\.variant$/;

/** Removes old entries, then the least recently used, if their trailer has the key of their name; returns the number removed. */
export async function removeBeyond(folder: string, { maxSize, maxAge }: CacheLimits): Promise<number> {
  if (maxSize === undefined && maxAge === undefined) return 0;
  const entries = (await candidatesIn(folder)).sort((a, b) => a.usedAt - b.usedAt);
  const oldest = maxAge === undefined ? -Infinity : Date.now() - maxAge;
  let total = entries.reduce((sum, { size }) => sum + size, 0);
  let removed = 0;
  for (const entry of entries) {
    if (entry.usedAt >= oldest && total <= (maxSize ?? Infinity)) break;
    const identity = await entryIn(entry);
    if (identity === undefined || await removeIfSame(entry.path, identity) === "changed") continue;
    total -= entry.size;
    removed++;
  }
  return removed;
}

/** Returns the entries of a cache. Missing ones are ignored, since another run may remove the same ones. */
async function candidatesIn(folder: string): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const each of await readdir(folder, { withFileTypes: true })) {
    if (!FOLDER.test(each.name) || !each.isDirectory()) continue;
    for (const name of await readdir(join(folder, each.name))) {
      const [, rest] = NAME.exec(name) ?? [];
      if (rest === undefined) continue;
      const path = join(folder, each.name, name);
      const status = await lstat(path).catch(ignoreMissing);
      if (!status?.isFile()) continue;
      candidates.push({ path, key: each.name + rest, size: status.size, usedAt: status.mtimeMs });
    }
  }
  return candidates;
}

async function entryIn({ path, key, size }: Candidate): Promise<FileIdentity | undefined> {
  const file = await whileUnshared(() => open(path)).catch(ignoreMissing);
  if (!file) return undefined;
  try {
    const identity = identityIn(await file.stat({ bigint: true }));
    const tail = new Uint8Array(TRAILER_SIZE);
    const { bytesRead } = await file.read(tail, 0, TRAILER_SIZE, Math.max(0, size - TRAILER_SIZE));
    const trailer = trailerIn(tail.subarray(0, bytesRead));
    return trailer?.key === key && trailer.size === size - TRAILER_SIZE ? identity : undefined;
  } finally {
    await file.close();
  }
}

/** The file that marks a folder as a cache, which backup programs then skip. */
const TAG_NAME = "CACHEDIR.TAG";
const TAG = "Signature: 8a477f597d28d172789f06886806bc55\n" +
  "# Variants that millrace precompress made. This folder can be removed at any time.\n";

/** A folder of entries, `12/34….variant` for the key `1234…`; several runs can use it at a time. */
export class DirectoryStore implements CacheStore {
  readonly #folder: string;
  readonly #limits: CacheLimits;

  private constructor(folder: string, limits: CacheLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Opens the folder, or creates it. Throws an Error if it contains files but is not a cache, or cannot be created. */
  static async open(folder: string, limits: CacheLimits): Promise<DirectoryStore> {
    try {
      await makeDirectory(folder);
      // A folder that cannot be written to may be read; the failure is reported at the first write.
      await claim(folder).catch((error) => {
        if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
      });
    } catch (cause) {
      throw new Error(`cannot use ${folder} as a cache: ${explainPlace(cause)}`, { cause });
    }
    return new DirectoryStore(folder, limits);
  }

  async get(key: string): Promise<StoredEntry | undefined> {
    const path = join(this.#folder, entryPath(key));
    const status = await lstat(path).catch(ignoreMissing);
    // Links and pipes are replaced: a link may lead to any file, and opening a pipe might not end.
    if (!status?.isFile()) return undefined;
    const now = new Date();
    await utimes(path, now, now).catch(() => {}); // the last use, unless the folder is read-only
    return { path, release: () => Promise.resolve() };
  }

  async put(key: string, path: string, trailer: Uint8Array): Promise<void> {
    const target = join(this.#folder, entryPath(key));
    const temporary = temporaryPath(join(this.#folder, key));
    try {
      const mode = (await stat(path)).mode & 0o777 | 0o600; // the original may have no write permission
      // The file is not flushed: an entry damaged by a power failure is recognized and replaced.
      await copyToTemporary(path, temporary, { mode, flush: false });
      await appendFile(temporary, trailer);
      await renameFile(temporary, target).catch(async (error) => {
        if (error.code !== "ENOENT") throw error;
        await makeDirectory(dirname(target));
        await renameFile(temporary, target);
      });
    } finally {
      await removeTemporary(temporary);
    }
  }

  async end(): Promise<number> {
    await removeAbandonedTemporaries(this.#folder);
    return await removeBeyond(this.#folder, this.#limits);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Requires that a folder is empty or a cache of this program, and marks it as a cache. */
async function claim(folder: string): Promise<void> {
  if (await isTagged(folder)) return;
  const names = (await readdir(folder)).filter((name) => !isTemporaryName(name));
  if (names.length === 0) {
    return await writeAtomically(join(folder, TAG_NAME), TAG, { flush: false, followLinks: false });
  }
  if (await isTagged(folder)) return; // another run was faster
  throw new Error(`it holds files that no cache put there (${names.sort()[0]}): name an empty folder`);
}

async function isTagged(folder: string): Promise<boolean> {
  return await whileUnshared(() => readFile(join(folder, TAG_NAME), "utf8")).catch(ignoreMissing) === TAG;
}
