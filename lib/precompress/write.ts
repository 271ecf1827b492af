import { join } from "node:path";
import { copyToTemporary, removeTemporary, temporaryDirectory } from "../files/internal.ts";
import { temporaryPath } from "../files/mod.ts";
import type { CacheReport } from "./cache/cache.ts";
import type { MadeVariant, Making } from "./compress.ts";
import { readContent } from "./content.ts";
import type { Context } from "./context.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./formats.ts";
import { manifestName } from "./manifest.ts";
import { type Copy, isSettled, type Plan, type Work } from "./plan.ts";
import { CHANGED } from "./problem.ts";
import { dropGone, type Made, recordExtra, recordOf, recordWork } from "./record_work.ts";
import type { VariantRecord } from "./records.ts";
import { putDictionary } from "./site/site_dictionary.ts";
import { variantPath } from "./tree_files.ts";

/** The cache's share of the written variants; undefined without a cache. */
export interface Written {
  readonly cache: CacheReport | undefined;
}

/** Executes a plan in the target, and records it; a dry run only records the expected changes. */
export async function write({ plan, variants }: Making, context: Context): Promise<Written> {
  const { ledger, settings: { dryRun, signal }, target } = context;
  if (dryRun) {
    await pretend(plan, variants, context);
    return { cache: undefined };
  }
  if (!plan.isEmpty) await target.begin({ signal });
  await act(plan, variants, context);
  if (plan.isEmpty && target.isNews(ledger.records)) await target.begin({ signal });
  await target.end(ledger.records).catch((error) => ledger.fail(manifestName, error));
  return { cache: await context.cache?.end() };
}

async function act(plan: Plan, variants: Making["variants"], context: Context): Promise<void> {
  const { former, ledger, settings: { signal }, target } = context;
  for (const path of plan.temporaries) await removeTemporary(join(former.folder, path));
  for (const path of plan.stale) await removeStale(path, context);
  for (const copy of plan.copies) {
    signal?.throwIfAborted();
    if (!await makeCopy(copy, context)) plan.failed.add(copy.file.path);
  }
  if (plan.newDictionary) await putDictionary(plan.newDictionary, context);
  for (const [path, file] of plan.alike) await target.align(path, file).catch((error) => ledger.fail(path, error));
  // A variant requires the copy of the file that it was made from.
  for (const work of plan.works) if (plan.failed.has(work.file.path)) await dropWithoutCopy(work, context);
  recordAll(plan, await putAll(variants, context), context);
}

/** Records a plan as if it had been executed. */
async function pretend(plan: Plan, variants: Making["variants"], context: Context): Promise<void> {
  const { ledger, pool } = context;
  for (const path of plan.stale) ledger.removed.push(path);
  if (plan.newDictionary) ledger.compressed.add(plan.newDictionary.file.path);
  for (const { file } of plan.copies) ledger.copied.push(file.path);
  const open = plan.works.filter((work) => !isSettled(work));
  let made: ReadonlyMap<Work, Made> = new Map();
  // Without a manifest, only the bytes that a run would write identify its own files.
  if (!plan.newDictionary && open.some(({ variants }) => variants.some(({ theirs }) => theirs !== undefined))) {
    const folder = await temporaryDirectory();
    try {
      context.trialIn = folder.path;
      pool.prepare(open.length, Infinity);
      made = await putAll(variants, context);
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  } else {
    for (const { file } of open) ledger.compressed.add(file.path);
  }
  recordAll(plan, made, context);
}

function recordAll(plan: Plan, made: ReadonlyMap<Work, Made>, context: Context): void {
  for (const work of plan.works) {
    if (!plan.failed.has(work.file.path)) recordWork(work, made.get(work) ?? new Map(), context);
  }
  dropGone(plan, context); // otherwise the variants of such files would own their places
  for (const extra of plan.extras) if (!plan.failed.has(extra.file.path)) recordExtra(extra, context);
}

/** Puts variants in their places as they are made, several at a time. */
async function putAll(variants: Making["variants"], context: Context): Promise<Map<Work, Made>> {
  const all = new Map<Work, Made>();
  const lanes = Array.from({ length: 2 * context.settings.jobs + 2 }, async () => {
    for await (const made of variants) {
      const record = await put(made, context);
      const { work, variant: { format } } = made;
      if (record) all.set(work, (all.get(work) ?? new Map()).set(format, record));
      made.settle(record);
    }
  });
  // Waits for all lanes: files written while the run ends would be missing in its manifest.
  for (const lane of await Promise.allSettled(lanes)) if (lane.status === "rejected") throw lane.reason;
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
    if (isLeft && (trialIn || await target.remove(path))) ledger.removed.push(path);
    return { state: "unworthy", settings };
  }
  const variant: VariantRecord = { state: "kept", settings, size: outcome.size, sha256: outcome.sha256 };
  const entry = { path: file.path, record: recordOf(work, ledger), made: { format, variant } };
  const isNew = trialIn ? !theirs : await target.put(path, { temporary, sha256: outcome.sha256, entry, replacesAny });
  if (isNew || !theirs) ledger.compressed.add(file.path);
  if (!isNew && !trialIn) await target.align(path, file);
  return variant;
}

/** Handles a failure: keeps an earlier run's variant of the same content, and removes others. */
async function fallBack(
  format: VariantFormat | DeltaFormat,
  { file, sha256 }: Work,
  { former, ledger, target, trialIn }: Context,
): Promise<VariantRecord | undefined> {
  const path = variantPath(file.path, format);
  const occupant = await former.look(path);
  if (occupant.kind !== "file" || !occupant.isOurs) return undefined;
  const before = former.records.get(file.path);
  const known = before?.sha256 === sha256 ? before.variants[format] : undefined;
  if (known?.sha256 === occupant.sha256) return known;
  if (trialIn || await target.remove(path)) ledger.removed.push(path);
  return undefined;
}

const formats = Object.keys(extensions) as (VariantFormat | DeltaFormat)[];

async function removeStale(path: string, { ledger, target }: Context): Promise<void> {
  try {
    if (await target.remove(path)) ledger.removed.push(path);
  } catch (error) {
    ledger.fail(path, error);
    ledger.stuck.add(path);
  }
}

/** Removes the variants of a file that could not be copied, unless its former copy exists. */
async function dropWithoutCopy({ file: { path } }: Work, context: Context): Promise<void> {
  const { former, ledger } = context;
  const copy = await former.look(path);
  if (copy.kind === "file" && copy.isOurs) return;
  const { variants = {} } = former.records.get(path) ?? {};
  const keptFormats = formats.filter((format) => variants[format]?.state === "kept");
  const kept = keptFormats.map((format) => variantPath(path, format));
  for (const variant of kept) await removeStale(variant, context);
  if (!kept.some((variant) => ledger.stuck.has(variant))) ledger.records.delete(path);
}

/** Copies a file to the target; returns whether that succeeded. */
async function makeCopy(copy: Copy, { former, ledger, places, settings, target }: Context): Promise<boolean> {
  const { file, sha256 } = copy;
  const { path } = file;
  const temporary = temporaryPath(join(former.folder, path));
  try {
    await target.makeFolderOf(path);
    await copyToTemporary(join(places.source, path), temporary, file);
    if ((await readContent(temporary)).sha256 !== sha256) throw new Error(CHANGED);
    const entry = { path, record: recordOf(copy, ledger) };
    const isNew = await target.put(path, { temporary, sha256, entry, replacesAny: settings.force });
    if (isNew) ledger.copied.push(path);
    else ledger.ready.add(path); // the file appeared during the run
    return true;
  } catch (error) {
    ledger.fail(path, error);
    return false;
  } finally {
    await removeTemporary(temporary);
  }
}
