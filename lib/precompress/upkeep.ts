import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { copyFileAtomic, isTemporaryOfDeadProcess } from "../files/mod.ts";
import { readContent } from "./content.ts";
import { type Context, targetOf } from "./context.ts";
import { CHANGED } from "./problem.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./options.ts";
import type { FoundFile } from "./walk.ts";

/** Copies `file` to where the variants go, unless the same content is there. */
export async function copyFile(file: FoundFile, sha256: string, context: Context): Promise<void> {
  const target = targetOf(context, file.path);
  const present = await readContent(target).catch(() => undefined);
  if (present?.sha256 === sha256 || context.settings.dryRun) return;
  await mkdir(dirname(target), { recursive: true });
  await copyFileAtomic(join(context.places.source, file.path), target, file);
  if ((await readContent(target)).sha256 !== sha256) throw new Error(CHANGED);
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
  for (const path of Object.keys(context.ledger.before)) {
    if (present.has(path)) continue;
    await removeVariants(path, () => true, context);
    if (copied) await remove(path, context);
    context.ledger.records.delete(path);
  }
}

/** Removes temporary files that killed runs left behind in `folder`; paths are below it. */
export async function removeTemporaries(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    if (isTemporaryOfDeadProcess(path.slice(path.lastIndexOf("/") + 1))) await rm(join(folder, path), { force: true });
  }
}

async function remove(path: string, context: Context): Promise<void> {
  context.ledger.removed.push(path);
  if (!context.settings.dryRun) await rm(targetOf(context, path), { force: true });
}
