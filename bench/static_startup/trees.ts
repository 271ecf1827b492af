import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { manifestName, precompress } from "../../lib/precompress/mod.ts";
import { readCorpus } from "../corpus.ts";
import { corpusFolder } from "../corpus_folder.ts";

const FOLDERS = 100;
/** The minimum and maximum size of the files in bytes. */
const [LEAST, MOST] = [1024, 8192];

/**
 * Returns a folder of scripts with hashes in their names, each with `.br`, `.zst` and `.gz` beside it and a manifest
 * for all.
 */
export async function tree(originals: number, withManifest = true): Promise<string> {
  const folder = join(corpusFolder, "static-startup", `${originals}${withManifest ? "" : "-no-manifest"}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  const source = Buffer.concat(readCorpus().map(({ bytes }) => bytes));
  for (let i = 0; i < originals; i++) {
    const part = join(unfinished, `part-${i % FOLDERS}`);
    if (i < FOLDERS) mkdirSync(part, { recursive: true });
    const size = LEAST + i * 7919 % (MOST - LEAST);
    const start = i * 9973 % (source.length - size);
    const hash = (Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
    writeFileSync(join(part, `chunk-${hash}.js`), source.subarray(start, start + size));
  }
  // Smaller variants make no difference here, and the top levels take minutes.
  await precompress(unfinished, { levels: { brotli: 4, zstd: 3, gzip: 3 } });
  if (!withManifest) rmSync(join(unfinished, manifestName));
  renameSync(unfinished, folder);
  return folder;
}
