import { join } from "node:path";
import { temporaryPath } from "../files/mod.ts";
import type { Context } from "./context.ts";
import { discard } from "./discard.ts";
import type { Job, Outcome } from "./job.ts";
import type { VariantRecord } from "./records.ts";
import { type DeltaFormat, deltasOf, extensions, isDelta, isSiteDelta, type VariantFormat } from "./options.ts";
import type { PlannedVariant, Work } from "./plan.ts";
import { inTheWay } from "./planned_variant.ts";
import { type Made, recordOf, recordWork } from "./record_work.ts";
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

/** The parameters for making a variant. */
interface Making {
  readonly work: Work;
  readonly level: number;
  /** A variant of more bytes than this is not kept. */
  readonly limit: number;
  /** The record of the outcome. */
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
    await discard(job.temporary);
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
  { ledger, target }: Context,
): Promise<VariantRecord> {
  const { file } = work;
  const path = variantPath(file.path, format);
  if (theirs && (outcome.state !== "kept" || outcome.sha256 !== theirs.sha256)) {
    if (theirs.isForm) return { state: "found", settings, size: theirs.size, sha256: theirs.sha256 };
    if (outcome.state === "kept") throw inTheWay(file.path);
    return { state: "unworthy", settings };
  }
  if (outcome.state === "unworthy") {
    const occupant = isBeside ? undefined : await target.look(path);
    if (occupant?.kind === "file" && occupant.isOurs && await target.remove(path)) ledger.removed.push(path);
    return { state: "unworthy", settings };
  }
  const variant: VariantRecord = { state: "kept", settings, size: outcome.size, sha256: outcome.sha256 };
  const entry = { path: file.path, record: recordOf(work, ledger), made: { format, variant } };
  const isNew = await target.put(path, { temporary, sha256: outcome.sha256, entry, replacesAny });
  if (isNew || !theirs) ledger.compressed.add(file.path);
  if (!isNew) await target.align(path, file);
  return variant;
}

/** After a failure: what a run before made is kept if it is of the same content, and must go otherwise. */
async function fallBack(
  format: VariantFormat | DeltaFormat,
  { file, sha256 }: Work,
  { ledger, target }: Context,
): Promise<VariantRecord | undefined> {
  const path = variantPath(file.path, format);
  const occupant = await target.look(path);
  if (occupant.kind !== "file" || !occupant.isOurs) return undefined;
  const before = target.provenance.records.get(file.path);
  const known = before?.sha256 === sha256 ? before.variants[format] : undefined;
  if (known?.sha256 === occupant.sha256) return known;
  if (await target.remove(path)) ledger.removed.push(path);
  return undefined;
}

function jobFor({ format }: PlannedVariant, { work, level, limit }: Making, context: Context): Job {
  const { places, target } = context;
  const { file, sha256 } = work;
  const dictionary = isDelta(format) ? dictionaryFor(format, work, context) : undefined;
  return {
    path: file.path,
    source: join(work.folder ?? places.source, file.path),
    temporary: temporaryPath(join(target.folder, variantPath(file.path, format))),
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

function dictionaryFor(
  format: DeltaFormat,
  { dictionary }: Work,
  { places, siteDictionary }: Context,
): { readonly file: string; readonly sha256: string } {
  if (isSiteDelta(format)) return siteDictionary!;
  return { file: join(places.previous!, dictionary!.path), sha256: dictionary!.sha256 };
}
