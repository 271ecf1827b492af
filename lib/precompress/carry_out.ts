import { basename, join } from "node:path";
import { copyToTemporary, removeTemporary } from "../files/internal.ts";
import { temporaryPath } from "../files/mod.ts";
import { readContent } from "./content.ts";
import type { Context } from "./context.ts";
import type { Job, Outcome } from "./job.ts";
import { type DeltaFormat, deltasOf, extensions, isDelta, type VariantFormat } from "./formats.ts";
import { dictionaryOf } from "./plan_file.ts";
import type { Copy, Plan, PlannedVariant, Work } from "./plan.ts";
import { CHANGED } from "./problem.ts";
import { type Made, recordExtra, recordOf, recordSettled, recordWork } from "./record_work.ts";
import type { VariantRecord } from "./records.ts";
import { putDictionary } from "./site/site_dictionary.ts";
import { variantPath } from "./tree_files.ts";

/** A delta must be this much smaller than the plain variant: the browser keeps a dictionary for it. */
const DELTA_SHARE = 0.9;

/** Has the pool make the variants that `work` lacks, puts them where they belong, and records them. */
export async function carryOut(work: Work, context: Context): Promise<void> {
  const { formats, minSaving } = context.settings;
  const limit = Math.floor(work.file.size * (1 - minSaving));
  const made: Made = new Map();
  const planned = new Map(work.variants.map((variant) => [variant.format, variant]));
  await Promise.all(formats.map(async (format) => {
    const plain = planned.get(format);
    if (plain) await settle(plain, { work, level: context.settings.levels[format], limit, made }, context);
    const share = Math.floor((made.get(format)?.size ?? work.file.size) * DELTA_SHARE);
    for (const delta of deltasOf[format].flatMap((each) => planned.get(each) ?? [])) {
      await settle(delta, { work, level: context.settings.levels[format], limit: share, made }, context);
    }
  }));
  recordWork(work, made, context);
}

interface Making {
  readonly work: Work;
  readonly level: number;
  /** A variant of more bytes than this is not kept. */
  readonly limit: number;
  readonly made: Made;
}

async function settle(variant: PlannedVariant, making: Making, context: Context): Promise<void> {
  const { work, made } = making;
  const { format, record } = variant;
  if (record) {
    made.set(format, record);
    return;
  }
  const job = jobFor(variant, making, context);
  const outcome = await run(job, context);
  try {
    if (outcome.state === "failed") throw new Error(`${extensions[format]}: ${outcome.message}`);
    made.set(format, await take(outcome, variant, job, work, context));
  } catch (error) {
    context.ledger.fail(outcome.state === "failed" ? work.file.path : variantPath(work.file.path, format), error, work);
    const left = variant.isBeside ? undefined : await fallBack(format, work, context);
    if (left) made.set(format, left);
  } finally {
    await removeTemporary(job.temporary);
  }
}

async function run(job: Job, context: Context): Promise<Outcome> {
  const { cache, ledger, pool, progress, settings } = context;
  let left = job.size;
  const advance = (bytes: number): void => {
    left -= bytes;
    progress.advance(job.format, bytes);
  };
  const entry = settings.force ? undefined : await cache?.find(job);
  try {
    const outcome = await pool.run({ ...job, ...(entry && { entry: entry.path }) }, advance);
    await cache?.settle(job, outcome, entry !== undefined);
    progress.advance(job.format, left);
    ledger.spend(job.path, outcome.elapsedMs);
    return outcome;
  } finally {
    await entry?.release();
  }
}

/** Puts what was made in its place, unless that is somebody else's. */
async function take(
  outcome: Exclude<Outcome, { state: "failed" }>,
  { format, settings, replacesAny, isBeside, theirs }: PlannedVariant,
  { temporary }: Job,
  work: Work,
  { ledger, target, trialIn }: Context,
): Promise<VariantRecord> {
  const { file } = work;
  const path = variantPath(file.path, format);
  if (theirs && (outcome.state !== "kept" || outcome.sha256 !== theirs.sha256)) return theirs;
  if (outcome.state === "unworthy") {
    const occupant = isBeside ? undefined : await target.look(path);
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

/** After a failure: what a run before made is kept if it is of the same content, and must go otherwise. */
async function fallBack(
  format: VariantFormat | DeltaFormat,
  { file, sha256 }: Work,
  { ledger, target, trialIn }: Context,
): Promise<VariantRecord | undefined> {
  const path = variantPath(file.path, format);
  const occupant = await target.look(path);
  if (occupant.kind !== "file" || !occupant.isOurs) return undefined;
  const before = target.provenance.records.get(file.path);
  const known = before?.sha256 === sha256 ? before.variants[format] : undefined;
  if (known?.sha256 === occupant.sha256) return known;
  if (trialIn || await target.remove(path)) ledger.removed.push(path);
  return undefined;
}

function jobFor({ format }: PlannedVariant, { work, level, limit }: Making, context: Context): Job {
  const { places, target, trialIn } = context;
  const { file, sha256 } = work;
  const path = variantPath(file.path, format);
  const dictionary = isDelta(format) ? dictionaryOf(format, work, context) : undefined;
  return {
    path: file.path,
    source: join(work.folder ?? places.source, file.path),
    temporary: temporaryPath(trialIn ? join(trialIn, basename(path)) : join(target.folder, path)),
    format,
    level,
    ...(dictionary && { dictionary: dictionary.file, dictionarySha256: dictionary.sha256 }),
    sha256,
    size: file.size,
    mtimeMs: file.mtimeMs,
    mode: file.mode,
    limit,
    keepsAny: context.cache !== undefined,
  };
}

const formats = Object.keys(extensions) as (VariantFormat | DeltaFormat)[];

/** Does what `plan` says; the context's target has begun. */
export async function act(plan: Plan, context: Context, signal?: AbortSignal): Promise<void> {
  const { ledger, target } = context;
  for (const path of plan.temporaries) await removeTemporary(join(target.folder, path));
  for (const path of plan.stale) await removeStale(path, context);
  const failed = new Set<string>();
  for (const copy of plan.copies) {
    signal?.throwIfAborted();
    if (!await makeCopy(copy, context)) failed.add(copy.file.path);
  }
  if (plan.newDictionary) await putDictionary(plan.newDictionary, context);
  for (const [path, file] of plan.alike) await target.align(path, file).catch((error) => ledger.fail(path, error));
  // A variant must not be beside a copy that it was not made from, nor without one.
  const works = plan.works.filter(({ file }) => !failed.has(file.path));
  for (const work of plan.works) if (failed.has(work.file.path)) await dropWithoutCopy(work, context);
  for (const work of works) if (work.isSettled) recordSettled(work, context);
  await carryOutAll(works.filter(({ isSettled }) => !isSettled), context);
  for (const extra of plan.extras) if (!failed.has(extra.file.path)) recordExtra(extra, context);
}

async function removeStale(path: string, { ledger, target }: Context): Promise<void> {
  try {
    if (await target.remove(path)) ledger.removed.push(path);
  } catch (error) {
    ledger.fail(path, error);
    ledger.stuck.add(path);
  }
}

/** Removes the variants of a file that could not be copied, unless its former copy is there. */
async function dropWithoutCopy({ file: { path } }: Work, context: Context): Promise<void> {
  const { ledger, target } = context;
  const copy = await target.look(path);
  if (copy.kind === "file" && copy.isOurs) return;
  const { variants = {} } = target.provenance.records.get(path) ?? {};
  const keptFormats = formats.filter((format) => variants[format]?.state === "kept");
  const kept = keptFormats.map((format) => variantPath(path, format));
  for (const variant of kept) await removeStale(variant, context);
  if (!kept.some((variant) => ledger.stuck.has(variant))) ledger.records.delete(path);
}

/** Copies a file to the target; returns whether that worked. */
async function makeCopy(copy: Copy, { ledger, places, settings, target }: Context): Promise<boolean> {
  const { file, sha256 } = copy;
  const { path } = file;
  const temporary = temporaryPath(join(target.folder, path));
  try {
    await target.makeFolderOf(path);
    await copyToTemporary(join(places.source, path), temporary, file);
    if ((await readContent(temporary)).sha256 !== sha256) throw new Error(CHANGED);
    const entry = { path, record: recordOf(copy, ledger) };
    const isNew = await target.put(path, { temporary, sha256, entry, replacesAny: settings.force });
    if (isNew) ledger.copied.push(path);
    else ledger.ready.add(path); // it came during the run
    return true;
  } catch (error) {
    ledger.fail(path, error);
    return false;
  } finally {
    await removeTemporary(temporary);
  }
}

/** Enough files at a time to keep the pool busy, whatever the number of files. */
export async function carryOutAll(works: readonly Work[], context: Context): Promise<void> {
  const waiting = works.values();
  const lanes = Array.from({ length: 2 * context.settings.jobs + 2 }, async () => {
    for (const work of waiting) await carryOut(work, context);
  });
  // All of them: what is put while the run ends would not be in its manifest.
  for (const lane of await Promise.allSettled(lanes)) if (lane.status === "rejected") throw lane.reason;
}
