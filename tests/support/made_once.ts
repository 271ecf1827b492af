import { readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { inFolder, listed, writeTree } from "./folders.ts";

/** A file as it was made. */
interface Made {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The time of its last change, in seconds. */
  readonly changed: number;
}

/**
 * Returns a function that writes into a folder what `make` writes, with the same times of change. `make` is called once:
 * a worker of `precompress()` takes longer to start than the rest of most tests.
 */
export function madeOnce(make: (folder: string) => Promise<unknown>): (folder: string) => Promise<void> {
  let made: Promise<Made[]> | undefined;
  return async (folder) => {
    for (const { path, bytes, changed } of await (made ??= filesOf(make))) {
      await writeTree(folder, { [path]: bytes });
      await utimes(join(folder, path), changed, changed);
    }
  };
}

async function filesOf(make: (folder: string) => Promise<unknown>): Promise<Made[]> {
  const files: Made[] = [];
  await inFolder(async (folder) => {
    await make(folder);
    for (const path of await listed(folder)) {
      const changed = (await stat(join(folder, path))).mtimeMs / 1000;
      files.push({ path, bytes: await readFile(join(folder, path)), changed });
    }
  });
  return files;
}
