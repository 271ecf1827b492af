import { closeSync, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { copyToTemporary, removeTemporary, temporaryDirectory, withoutGroup } from "../files/internal.ts";
import type { CacheReport } from "./cache/cache.ts";
import type { MadeVariant, Put } from "./compress.ts";
import type { Context, RunLog } from "./context.ts";
import { Folder, readContent } from "./folder.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./formats.ts";
import { openTemporary } from "./job.ts";
import { manifestName } from "./manifest.ts";
import { type Copy, isSettled, type NewDictionary, type Plan, type Work } from "./plan.ts";
import { CHANGED } from "./problem.ts";
import { type FileRecord, isWritten, type VariantRecord } from "./records.ts";
import { variantPath } from "./tree_files.ts";

/** Makes the missing variants of a plan, and puts each in its place. */
type Make = (put: Put) => Promise<void>;

/** The resulting variants of a file by format. Failed ones are missing, and the next run retries them. */
type Made = Map<VariantFormat | DeltaFormat, VariantRecord>;

const formats = Object.entries(extensions) as [VariantFormat | DeltaFormat, string][];

/** The settings of an obsolete variant that could not be removed. */
const UNREMOVABLE = "stuck";

/**
 * Executes a plan in the target, and records it; a dry run only records the expected changes. Returns the cache's share
 * of the variants; undefined without a cache.
 */
export async function write(plan: Plan, make: Make, context: Context): Promise<CacheReport | undefined> {
  const { ledger, settings: { dryRun, signal }, target } = context;
  if (!plan.isEmpty && !dryRun) await target.begin({ signal });
  const made = await (dryRun ? pretend(plan, make, context) : act(plan, make, context));
  let lookedAt = plan.isEmpty || dryRun ? 0 : await target.now();
  const changed = new Set<string>();
  const look = async (): Promise<void> => {
    for (const path of await changedFiles(plan, context)) changed.add(path);
    for (const path of changed) if (!ledger.troubled.has(path)) ledger.fail(path, new Error(CHANGED));
  };
  await look();
  for (const work of plan.works) {
    if (!plan.failed.has(work.file.path)) recordWork(work, made.get(work) ?? new Map(), context);
  }
  for (const path of plan.unknown) distrust(path, ledger);
  dropGone(plan, context); // otherwise the variants of such files would own their places
  for (const extra of plan.extras) if (!plan.failed.has(extra.file.path)) recordExtra(extra, context);
  if (dryRun) return undefined;
  if (plan.isEmpty && (changed.size > 0 || target.isNews(ledger.records))) {
    await target.begin({ signal });
    lookedAt = await target.now();
    await look();
  }
  for (const path of changed) await dropVariants(path, context);
  await target.end(ledger.records, lookedAt).catch((error) => ledger.fail(manifestName, error));
  return await context.cache?.end();
}

/** Returns the files that are no longer as they were read: servers would trust a record of them, and their variants. */
async function changedFiles({ works }: Plan, { former, places: { source } }: Context): Promise<string[]> {
  const changed: string[] = [];
  // Copies were compared with what was read, and variants are made of that.
  const left = former.isCopy ? [] : [...works].filter(({ folder }) => folder === undefined);
  const isAsRead = async ({ file: { path, size, mtimeMs, ctimeMs }, sha256 }: Work): Promise<boolean> => {
    const now = await stat(source.at(path));
    if (now.size === size && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs) return true;
    return now.size === size && (await source.contentOf(path)).sha256 === sha256;
  };
  while (left.length > 0) {
    await Promise.all(
      left.splice(-64).map(async (work) => {
        if (!await isAsRead(work).catch(() => false)) changed.push(work.file.path);
      }),
    );
  }
  return changed.sort();
}

/** Makes the changes of a plan; returns the variants that were made. */
async function act(plan: Plan, make: Make, context: Context): Promise<ReadonlyMap<Work, Made>> {
  const { former, ledger, settings: { signal }, target } = context;
  for (const path of plan.temporaries) await removeTemporary(former.folder.at(path));
  for (const path of plan.stale) await removeStale(path, context);
  for (const copy of plan.copies) {
    signal?.throwIfAborted();
    if (!await makeCopy(copy, context)) plan.failed.add(copy.file.path);
  }
  if (plan.newDictionary) await putDictionary(plan.newDictionary, context);
  for (const [path, file] of plan.alike) await target.align(path, file).catch((error) => ledger.fail(path, error));
  // A variant requires the copy of the file that it was made from.
  for (const { file: { path } } of plan.works) {
    const copy = plan.failed.has(path) ? await former.look(path) : undefined;
    if (copy && (copy.kind !== "file" || !copy.isOurs)) await dropVariants(path, context);
  }
  return await putAll(make, context);
}

/** Logs the changes of a plan without making them; returns the variants that were made to compare them with existing ones. */
async function pretend(plan: Plan, make: Make, context: Context): Promise<ReadonlyMap<Work, Made>> {
  const { ledger, pool } = context;
  for (const path of plan.stale) ledger.removed.add(path);
  if (plan.newDictionary) ledger.compressed.add(plan.newDictionary.file.path);
  for (const { file } of plan.copies) ledger.copied.add(file.path);
  const open = [...plan.works].filter((work) => !isSettled(work));
  // Without a manifest, only the bytes that a run would write identify its own files.
  if (plan.newDictionary || !open.some(({ variants }) => variants.some(({ theirs }) => theirs !== undefined))) {
    for (const { file, variants } of open) {
      ledger.compressed.add(file.path);
      for (const { format } of variants) ledger.removed.delete(variantPath(file.path, format));
    }
    return new Map();
  }
  const folder = await temporaryDirectory();
  try {
    context.trialIn = new Folder(folder.path);
    pool.prepare(open.length, Infinity);
    return await putAll(make, context);
  } finally {
    await folder[Symbol.asyncDispose]();
  }
}

/** Makes the missing variants of a plan, and puts them in their places. */
async function putAll(make: Make, context: Context): Promise<Map<Work, Made>> {
  const all = new Map<Work, Made>();
  await make(async (made) => {
    const record = await put(made, context);
    const { work, variant: { format } } = made;
    if (record) all.set(work, (all.get(work) ?? new Map()).set(format, record));
    return record;
  });
  return all;
}

async function put(made: MadeVariant, context: Context): Promise<VariantRecord | undefined> {
  const { work, variant: { format, isBeside }, job, outcome } = made;
  try {
    return await take(made, context);
  } catch (error) {
    context.ledger.fail(outcome.state === "failed" ? work.file.path : variantPath(work.file.path, format), error, work);
    return isBeside ? undefined : await fallBack(format, work, context);
  } finally {
    await removeTemporary(job.temporary);
  }
}

/** Moves a finished file to its place, unless that has a file that no run wrote. */
async function take(
  { work, variant: { format, settings, replacesAny, isBeside, theirs }, job: { temporary }, outcome }: MadeVariant,
  { former, ledger, target, trialIn }: Context,
): Promise<VariantRecord> {
  const { file } = work;
  if (outcome.state === "failed") throw new Error(`${extensions[format]}: ${outcome.message}`);
  const path = variantPath(file.path, format);
  if (theirs && (outcome.state !== "kept" || outcome.sha256 !== theirs.sha256)) return theirs;
  if (outcome.state === "unworthy") {
    const occupant = isBeside ? undefined : await former.look(path);
    const isLeft = occupant?.kind === "file" && occupant.isOurs;
    if (isLeft && (trialIn || await target.remove(path))) ledger.removed.add(path);
    return { state: "unworthy", settings };
  }
  const variant: VariantRecord = { state: "kept", settings, size: outcome.size, sha256: outcome.sha256 };
  const entry = { path: file.path, record: recordOf(work, ledger), made: { format, variant } };
  const isNew = trialIn
    ? !theirs
    : await target.put(path, { temporary, sha256: outcome.sha256, entry, replacesAny, file });
  if (isNew || !theirs) ledger.compressed.add(file.path);
  ledger.removed.delete(path);
  if (!isNew && !trialIn) await target.align(path, file);
  return variant;
}

/** Handles a failure: keeps an earlier run's variant of the same content, and removes others. */
async function fallBack(
  format: VariantFormat | DeltaFormat,
  { file, sha256 }: Work,
  context: Context,
): Promise<VariantRecord | undefined> {
  const { former, ledger, trialIn } = context;
  const path = variantPath(file.path, format);
  const occupant = await former.look(path);
  if (occupant.kind !== "file" || !occupant.isOurs) return undefined;
  const before = former.records.get(file.path);
  const known = before?.sha256 === sha256 ? before.variants[format] : undefined;
  if (known?.state === "kept" && known.sha256 === occupant.sha256) return known;
  if (trialIn) ledger.removed.add(path);
  else await removeStale(path, context);
  return undefined;
}

async function removeStale(path: string, { ledger, target }: Context): Promise<void> {
  try {
    if (await target.remove(path)) ledger.removed.add(path);
  } catch (error) {
    ledger.fail(path, error);
    ledger.stuck.add(path);
  }
}

/** Removes the written variants of a file, and its record. */
async function dropVariants(path: string, context: Context): Promise<void> {
  const { ledger } = context;
  const { variants = {} } = ledger.records.get(path) ?? {};
  for (const [format, suffix] of formats) {
    if (variants[format] && isWritten(variants[format])) await removeStale(path + suffix, context);
  }
  forget(path, ledger);
}

/** Drops the record of a file that is not as recorded, unless an output of it could not be removed. */
function forget(path: string, ledger: RunLog): void {
  if (["", ...Object.values(extensions)].some((suffix) => ledger.stuck.has(path + suffix))) distrust(path, ledger);
  else ledger.records.delete(path);
}

/** Marks a record, if there is one, as that of an earlier content. */
function distrust(path: string, { records }: RunLog): void {
  const record = records.get(path);
  if (record) records.set(path, { ...record, unread: true });
}

async function makeCopy(copy: Copy, { former, ledger, places, settings, target }: Context): Promise<boolean> {
  const { file, sha256 } = copy;
  const { path } = file;
  const temporary = former.folder.temporaryFor(path);
  try {
    await target.makeFolderOf(path);
    await copyToTemporary(places.source.at(path), temporary, { ...file, mode: withoutGroup(file.mode) | 0o600 });
    if ((await readContent(temporary)).sha256 !== sha256) throw new Error(CHANGED);
    const entry = { path, record: recordOf(copy, ledger) };
    const isNew = await target.put(path, { temporary, sha256, entry, replacesAny: settings.force, file });
    if (isNew) ledger.copied.add(path);
    else ledger.ready.add(path); // the file appeared during the run
    return true;
  } catch (error) {
    ledger.fail(path, error);
    return false;
  } finally {
    await removeTemporary(temporary);
  }
}

/** Writes a new dictionary of the site to the target. Throws on failure, since no delta can then be made. */
async function putDictionary(dictionary: NewDictionary, { former, ledger, target }: Context): Promise<void> {
  const { file, bytes, sha256 } = dictionary;
  const { path, mode } = file;
  const temporary = former.folder.temporaryFor(path);
  try {
    closeSync(openSync(temporary, "wx", mode));
    const opened = await openTemporary({ ...file, temporary });
    await opened.write(bytes).then(() => opened.end()).catch(async (error) => {
      await opened.discard();
      throw error;
    });
    const entry = { path, record: recordOf(dictionary, ledger) };
    if (await target.put(path, { temporary, sha256, entry, replacesAny: false, file })) ledger.compressed.add(path);
  } finally {
    await removeTemporary(temporary);
  }
}

/** Returns the record of a file itself, to which its variants are added. */
function recordOf(
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
function recordWork(work: Work, made: Made, { former, ledger }: Context): void {
  const { path } = work.file;
  const variants: Partial<Record<VariantFormat | DeltaFormat, VariantRecord>> = {};
  for (const { format, record } of work.variants) {
    const variant = record ?? made.get(format);
    if (!variant) continue;
    variants[format] = variant;
    if (variant.state === "found") ledger.found.add(variantPath(path, format));
  }
  const hasAny = Object.values(variants).some(({ state }) => state !== "unworthy");
  for (const [name, variant] of Object.entries(former.records.get(path)?.variants ?? {})) {
    const format = name as VariantFormat | DeltaFormat;
    // The variant was still written by a run, and the next run retries its removal. Servers must not take it for one of other content.
    const state = former.records.get(path)?.sha256 === work.sha256 ? variant.state : "unworthy";
    if (ledger.stuck.has(variantPath(path, format))) variants[format] ??= { ...variant, state, settings: UNREMOVABLE };
  }
  ledger.records.set(path, { ...recordOf(work, ledger), variants });
  if (ledger.compressed.has(path) || ledger.troubled.has(path) || work.folder !== undefined) return;
  if (hasAny) ledger.unchanged++;
  else ledger.skipped++;
}

/** Records the copy of a file at the path of a variant, unless the variant has replaced it. */
function recordExtra(extra: Copy, { ledger }: Context): void {
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
function dropGone(plan: Plan, { former, ledger }: Context): void {
  const present = new Set([...plan.works, ...plan.extras].map(({ file }) => file.path));
  for (const path of former.records.keys()) {
    if (!present.has(path) && !plan.unknown.has(path)) forget(path, ledger);
  }
}
