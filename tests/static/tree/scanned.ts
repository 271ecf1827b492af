import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Representation, TreeFile } from "../../../lib/static/scan/representation.ts";
import { scanTree } from "../../../lib/static/scan/scan_tree.ts";
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
