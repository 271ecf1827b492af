import { mkdir, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyFileAtomic, isAbandonedTemporary } from "../files/mod.ts";
import { readContent } from "./content.ts";
import { type Context, targetOf } from "./context.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./options.ts";
import { CHANGED } from "./problem.ts";
import type { FoundFile } from "./walk.ts";

/** Copies `file` to where the variants go, unless the same content is there. */
export async function copyFile(file: FoundFile, sha256: string, context: Context): Promise<void> {
  const target = targetOf(context, file.path);
  const present = await readContent(target).catch(() => undefined);
  if (present?.sha256 === sha256) return alignTime(file.path, file, context);
  context.ledger.copied.push(file.path);
  if (context.settings.dryRun) return;
  await mkdir(dirname(target), { recursive: true });
  await copyFileAtomic(join(context.places.source, file.path), target, file);
  if ((await readContent(target)).sha256 === sha256) return;
  await rm(target, { force: true });
  throw new Error(CHANGED);
}

/** Removes those variants of `path` that a former run made, or set out to make, and that `which` picks. */
export async function removeVariants(
  path: string,
  which: (format: VariantFormat | DeltaFormat) => boolean,
  context: Context,
): Promise<void> {
  const variants = context.ledger.before[path]?.variants ?? {};
  for (const [name, { state }] of Object.entries(variants)) {
    const format = name as VariantFormat | DeltaFormat;
    if (state !== "unworthy" && which(format)) await remove(path + extensions[format], context);
  }
}

/** Removes what former runs made from files that are gone, and the copies of these. */
export async function removeMissing(files: readonly FoundFile[], copied: boolean, context: Context): Promise<void> {
  const present = new Set(files.map(({ path }) => path));
  // What is in a folder that could not be read may well be there.
  const unknown = context.ledger.problems.map(({ path }) => path);
  for (const path of Object.keys(context.ledger.before)) {
    if (present.has(path) || unknown.some((each) => path === each || path.startsWith(`${each}/`))) continue;
    await removeVariants(path, () => true, context);
    if (copied) await remove(path, context);
    context.ledger.records.delete(path);
  }
}

/** Removes temporary files that killed runs left behind in `folder`; paths are below it. */
export async function removeTemporaries(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (await isAbandonedTemporary(join(folder, path))) await rm(join(folder, path), { force: true });
  }
}

/** Gives the variant or copy at `path` the time of change of `file`, which servers compare, if it has another. */
export async function alignTime(path: string, file: FoundFile, { settings, places }: Context): Promise<void> {
  if (settings.dryRun) return;
  const full = join(places.target, path);
  const { mtimeMs } = await stat(full);
  // Some file systems keep whole ms only.
  if (Math.abs(mtimeMs - file.mtimeMs) >= 1) await utimes(full, file.mtimeMs / 1000, file.mtimeMs / 1000);
}

async function remove(path: string, context: Context): Promise<void> {
  try {
    if (!context.settings.dryRun) await rm(targetOf(context, path), { force: true });
    context.ledger.removed.push(path);
  } catch (error) {
    context.ledger.fail(path, error);
  }
}
