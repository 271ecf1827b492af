import { basename, join } from "node:path";
import { isCompressedByName } from "./compressible.ts";
import { LARGE_FILE, readContent } from "./content.ts";
import { type Context, isCopying, targetOf } from "./context.ts";
import type { DictionaryRecord, FileRecord, VariantRecord } from "./manifest.ts";
import { type DeltaFormat, deltaOf, extensions, type VariantFormat } from "./options.ts";
import { isForeign } from "./foreign.ts";
import { CHANGED } from "./problem.ts";
import { withoutHash } from "./previous.ts";
import { alignTime, copyFile, removeVariants } from "./upkeep.ts";
import type { FoundFile } from "./walk.ts";

/** What there is to do for one file. */
export interface Work {
  readonly file: FoundFile;
  readonly sha256: string;
  readonly dictionary: DictionaryRecord | undefined;
  /** Every variant that the file should have: `pending` is to be made, the others are as they should be. */
  readonly variants: Map<VariantFormat | DeltaFormat, VariantRecord>;
}

/** Decides what to do for `file`; undefined if that is nothing. Records either. */
export async function plan(file: FoundFile, context: Context): Promise<Work | undefined> {
  const { ledger, places, settings } = context;
  const content = await readContent(join(places.source, file.path));
  if (content.size !== file.size) throw new Error(CHANGED);
  if (isCopying(places)) await copyFile(file, content.sha256, context);
  const record = { size: content.size, sha256: content.sha256 };
  const wanted = file.size >= settings.minSize && context.isWanted(file.path) && !isCompressedByName(file.path) &&
    !content.isDense;
  if (!wanted) {
    ledger.skipped++;
    await removeVariants(file.path, () => true, context);
    ledger.records.set(file.path, { ...record, variants: {} });
    return undefined;
  }
  const dictionary = await dictionaryFor(file, content.sha256, context);
  const variants = await variantsOf(file, content.sha256, dictionary, context);
  await removeVariants(file.path, (format) => !variants.has(format), context);
  ledger.records.set(file.path, {
    ...record,
    ...(dictionary && { dictionary }),
    variants: Object.fromEntries(variants),
  });
  if ([...variants.values()].some(({ state }) => state === "pending")) {
    if (settings.dryRun) ledger.compressed.add(file.path);
    return { file, sha256: content.sha256, dictionary, variants };
  }
  if (isLeftAlone(variants)) ledger.skipped++;
  else ledger.unchanged++;
  return undefined;
}

/** The former version of a file of that content, if it is another one: nobody who has the same asks for a delta. */
async function dictionaryFor(
  file: FoundFile,
  hash: string,
  { former, places }: Context,
): Promise<DictionaryRecord | undefined> {
  const version = former?.of(file.path, file.size);
  // A delta is made with both versions in memory.
  if (!version || file.size > LARGE_FILE || version.size > LARGE_FILE) return undefined;
  const { sha256 } = await readContent(join(places.previous!, version.path));
  return sha256 === hash ? undefined : { path: version.path, sha256, match: withoutHash(file.path) };
}

async function variantsOf(
  file: FoundFile,
  hash: string,
  dictionary: DictionaryRecord | undefined,
  context: Context,
): Promise<Work["variants"]> {
  const before = context.ledger.before[file.path];
  const variants: Work["variants"] = new Map();
  for (const format of context.settings.formats) {
    const delta = dictionary && deltaOf[format];
    for (const each of delta ? [format, delta] as const : [format] as const) {
      const settings = settingsOf(each, format, dictionary, context);
      const known = before?.variants[each];
      const reusable = known !== undefined && before?.sha256 === hash && known.settings === settings;
      if (known === undefined && !context.settings.force) {
        const path = file.path + extensions[each];
        if (await isForeign(targetOf(context, path), each, { size: file.size, sha256: hash })) {
          context.ledger.fail(
            path,
            new Error(
              `it is in the way and not made from ${basename(file.path)}: remove it, exclude that, or use --force`,
            ),
          );
          continue;
        }
      }
      const valid = reusable && !context.settings.force && await isAsRecorded(known, file, each, context);
      variants.set(each, valid ? known : { state: "pending", settings });
    }
  }
  return variants;
}

/** What a variant is made with, as the manifest records it. */
function settingsOf(
  format: VariantFormat | DeltaFormat,
  plain: VariantFormat,
  dictionary: DictionaryRecord | undefined,
  { settings }: Context,
): string {
  const base = `level ${settings.levels[plain]}, saving ${settings.minSaving}`;
  return format === plain ? base : `${base}, dictionary ${dictionary!.sha256}`;
}

async function isAsRecorded(
  record: VariantRecord,
  file: FoundFile,
  format: VariantFormat | DeltaFormat,
  context: Context,
): Promise<boolean> {
  if (record.state !== "kept") return record.state === "unworthy";
  const path = file.path + extensions[format];
  const present = await readContent(targetOf(context, path)).catch(() => undefined);
  if (present?.sha256 !== record.sha256) return false;
  await alignTime(path, file, context);
  return true;
}

/** Whether no variant saves enough to be there. */
export function isLeftAlone(variants: Work["variants"]): boolean {
  return variants.size > 0 && [...variants.values()].every(({ state }) => state === "unworthy");
}

/** The record of a file whose variants are settled: those that failed are left out, so that the next run tries again. */
export function settledRecord(work: Work): FileRecord {
  return {
    size: work.file.size,
    sha256: work.sha256,
    ...(work.dictionary && { dictionary: work.dictionary }),
    variants: Object.fromEntries(work.variants),
  };
}
