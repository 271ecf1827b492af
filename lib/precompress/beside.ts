import { join } from "node:path";
import { readContent } from "./content.ts";
import { type Context, isCopying, type Places } from "./context.ts";
import { readManifest } from "./manifest.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./options.ts";
import { copyFile } from "./upkeep.ts";
import type { FoundFile } from "./walk.ts";

/** A file that stands where a variant of another would be. */
export interface BesideFile {
  readonly file: FoundFile;
  /** The path of the other. */
  readonly owner: string;
  readonly format: VariantFormat | DeltaFormat;
}

const formats = Object.entries(extensions) as [VariantFormat | DeltaFormat, string][];

/** Parts the files of a tree into those to compress, and those that are compressed forms of these by their names. */
export function partVariants(found: readonly FoundFile[]): { files: FoundFile[]; beside: BesideFile[] } {
  const paths = new Set(found.map(({ path }) => path));
  const files: FoundFile[] = [];
  const beside: BesideFile[] = [];
  for (const file of found) {
    const [format, extension] = formats.find(([, extension]) => file.path.endsWith(extension)) ?? [];
    const owner = extension && file.path.slice(0, -extension.length);
    if (format && owner && paths.has(owner)) beside.push({ file, owner, format });
    else files.push(file);
  }
  return { files, beside };
}

/** Those files beside others that belong to a copy of the tree: what a run in place made does not. */
export async function toBeCopied(beside: readonly BesideFile[], places: Places): Promise<BesideFile[]> {
  if (!isCopying(places) || beside.length === 0) return [];
  const made = (await readManifest(places.source))?.files ?? {};
  return beside.filter(({ owner, format }) => {
    const state = made[owner]?.variants[format]?.state;
    return state === undefined || state === "unworthy";
  });
}

/** Copies `file`, unless a variant of ours has its place. */
export async function copyBeside({ file, owner, format }: BesideFile, context: Context): Promise<void> {
  const { ledger, places } = context;
  const state = ledger.records.get(owner)?.variants[format]?.state;
  if (state === "kept" || state === "pending") {
    ledger.records.delete(file.path);
    return;
  }
  const { size, sha256 } = await readContent(join(places.source, file.path));
  await copyFile(file, sha256, context);
  ledger.records.set(file.path, { size, sha256, variants: {} });
  ledger.skipped++;
}
