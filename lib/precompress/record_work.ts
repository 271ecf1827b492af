import type { Context, RunLog } from "./context.ts";
import type { FileRecord, VariantRecord } from "./records.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./formats.ts";
import type { Copy, Plan, Work } from "./plan.ts";
import { variantPath } from "./tree_files.ts";

/** The resulting variants of a file by format. Failed ones are missing, and the next run retries them. */
export type Made = Map<VariantFormat | DeltaFormat, VariantRecord>;

const formats = Object.entries(extensions) as [VariantFormat | DeltaFormat, string][];

/** The settings of an obsolete variant that could not be removed. */
const UNREMOVABLE = "stuck";

/** Returns the record of a file itself, to which its variants are added. */
export function recordOf(
  { file: { path, place, size }, sha256, dictionaries = [], siteDictionary, immutable }: Copy & Partial<Work>,
  ledger: RunLog,
): FileRecord {
  const found = ledger.ready.has(path);
  const [dictionary, ...olderDictionaries] = dictionaries.map(({ path, sha256, match }) => ({ path, sha256, match }));
  const madeOf = ledger.siteDictionary?.path === path ? ledger.siteDictionary.madeOf : undefined;
  return {
    size,
    sha256,
    ...(dictionary && { dictionary }),
    ...(olderDictionaries.length > 0 && { olderDictionaries }),
    ...(siteDictionary !== undefined && { siteDictionary }),
    ...(madeOf !== undefined && { madeOf }),
    ...(immutable !== undefined && { immutable }),
    ...(place !== undefined && { place }),
    ...(found && { found }),
    variants: {},
  };
}

/** Records and counts a file and its variants; `made` are those that were missing. */
export function recordWork(work: Work, made: Made, { former, ledger }: Context): void {
  const { path } = work.file;
  const variants: Partial<Record<VariantFormat | DeltaFormat, VariantRecord>> = {};
  for (const { format, record } of work.variants) {
    const variant = record ?? made.get(format);
    if (!variant) continue;
    variants[format] = variant;
    if (variant.state === "found") ledger.found.push(variantPath(path, format));
  }
  const hasAny = Object.values(variants).some(({ state }) => state !== "unworthy");
  for (const [name, variant] of Object.entries(former.records.get(path)?.variants ?? {})) {
    const format = name as VariantFormat | DeltaFormat;
    // The variant was still written by a run, and the next run retries its removal.
    if (ledger.stuck.has(variantPath(path, format))) variants[format] ??= { ...variant, settings: UNREMOVABLE };
  }
  ledger.records.set(path, { ...recordOf(work, ledger), variants });
  if (ledger.compressed.has(path) || ledger.troubled.has(path) || work.folder !== undefined) return;
  if (hasAny) ledger.unchanged++;
  else ledger.skipped++;
}

/** Records the copy of a file at the path of a variant, unless the variant has replaced it. */
export function recordExtra(extra: Copy, { ledger }: Context): void {
  const { path } = extra.file;
  ledger.skipped++;
  ledger.leftAlone.set(path, "beside");
  const isTaken = formats.some(([format, suffix]) => {
    const owner = path.endsWith(suffix) ? ledger.records.get(path.slice(0, -suffix.length)) : undefined;
    return owner?.variants[format]?.state === "kept";
  });
  if (isTaken) ledger.records.delete(path);
  else ledger.records.set(path, recordOf(extra, ledger));
}

/** Drops the records of missing files once all their variants are removed. */
export function dropGone(plan: Plan, { former, ledger }: Context): void {
  const present = new Set([...plan.works, ...plan.extras].map(({ file }) => file.path));
  for (const [path, { variants }] of former.records) {
    if (present.has(path) || plan.unknown.has(path)) continue;
    const outputs = [path, ...Object.keys(variants).map((format) => variantPath(path, format as VariantFormat))];
    if (!outputs.some((output) => ledger.stuck.has(output))) ledger.records.delete(path);
  }
}
