import { lstat, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { CacheLimits } from "./cache_limits.ts";
import { TRAILER_SIZE, trailerIn } from "./entry.ts";

/** An entry that might go. */
interface Candidate {
  readonly path: string;
  readonly key: string;
  readonly size: number;
  readonly usedAt: number;
}

const FOLDER = /^[0-9a-f]{2}$/;
const NAME = /^([0-9a-f]{62})\.variant$/;

/**
 * Removes entries that were last used too long ago, and of the others those that were, until the rest is small enough.
 * A file is removed only if it is what the cache wrote: its trailer names the key that its own name says.
 *
 * @returns how many were removed.
 */
export async function removeBeyond(folder: string, { maxSize, maxAge }: CacheLimits): Promise<number> {
  if (maxSize === undefined && maxAge === undefined) return 0;
  const entries = (await candidatesIn(folder)).sort((a, b) => a.usedAt - b.usedAt);
  const oldest = maxAge === undefined ? -Infinity : Date.now() - maxAge;
  let total = entries.reduce((sum, { size }) => sum + size, 0);
  let removed = 0;
  for (const entry of entries) {
    if (entry.usedAt >= oldest && total <= (maxSize ?? Infinity)) break;
    if (!await isEntry(entry)) continue;
    await unlink(entry.path).catch(ignoreMissing);
    total -= entry.size;
    removed++;
  }
  return removed;
}

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

async function isEntry({ path, key, size }: Candidate): Promise<boolean> {
  const file = await open(path).catch(ignoreMissing);
  if (!file) return false;
  try {
    const tail = new Uint8Array(TRAILER_SIZE);
    const { bytesRead } = await file.read(tail, 0, TRAILER_SIZE, Math.max(0, size - TRAILER_SIZE));
    const trailer = trailerIn(tail.subarray(0, bytesRead));
    return trailer?.key === key && trailer.size === size - TRAILER_SIZE;
  } finally {
    await file.close();
  }
}

/** Another run may remove the same entries. */
function ignoreMissing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== "ENOENT") throw error;
}
