import { rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Representation, TreeFile } from "../../../lib/static/scan/representation.ts";
import { scanTree } from "../../../lib/static/scan/scan_tree.ts";
import { manifestName } from "../../../lib/precompress/mod.ts";
import { runtime } from "../../support/runtime.ts";
import { compress } from "../../../lib/codecs/mod.ts";

/** The result of a scan. */
export interface Scanned {
  /** The files by path. */
  readonly files: ReadonlyMap<string, TreeFile>;
  /** `path: message`, sorted. */
  readonly warnings: readonly string[];
}

/** Scans `folder`. */
export async function scanned(folder: string, dotfiles = false): Promise<Scanned> {
  const warnings: string[] = [];
  const tree = await scanTree(folder, (path, message) => warnings.push(`${path}: ${message}`), { dotfiles });
  return { files: new Map([...tree].map((file) => [file.path, file])), warnings: warnings.sort() };
}

/** Waits until all files are certainly older than a look: by their times, which are whole seconds on Deno, and on FAT even ones. */
export async function filesAge(): Promise<void> {
  await setTimeout(runtime === "deno" ? 2100 : 50);
}

/** Writes a manifest as of a run that looked at the files just now. */
export async function putManifest(folder: string, text: string): Promise<void> {
  const path = join(folder, manifestName);
  await rm(path, { force: true });
  const lookedAt = Date.now() / 1000;
  await setTimeout(50); // of the clock that gives files their times
  await writeFile(path, text);
  await utimes(path, lookedAt, lookedAt);
}

/** Returns the codings that a file can be sent in. */
export function codingsOf(file: TreeFile | undefined): string[] {
  return file ? all(file).map(({ coding }) => coding) : [];
}

/** Returns all representations of a file. */
export function all({ identity, variants, deltas }: TreeFile): Representation[] {
  return [identity, ...variants, ...deltas];
}

/** Compressed forms of `text`, by extension. */
export async function variantsOf(text: string): Promise<Record<".br" | ".zst" | ".gz", Uint8Array>> {
  const bytes = new TextEncoder().encode(text);
  const zstd = await compress(bytes, { format: "zstd", level: 3 });
  return { ".br": brotliCompressSync(bytes), ".zst": zstd, ".gz": gzipSync(bytes) };
}
