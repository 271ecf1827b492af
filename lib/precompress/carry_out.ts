import { join } from "node:path";
import { temporaryPath } from "../files/mod.ts";
import { type Context, targetOf } from "./context.ts";
import type { Job } from "./job.ts";
import { type DeltaFormat, deltaOf, extensions, type VariantFormat } from "./options.ts";
import { isLeftAlone, settledRecord, type Work } from "./plan.ts";
import { removeVariants } from "./upkeep.ts";

/** A delta must be this much smaller than the plain variant: the browser keeps a dictionary for it. */
const DELTA_SHARE = 0.9;

/** Has the pool make the variants that `work` lacks, and records them. */
export async function carryOut(work: Work, context: Context): Promise<void> {
  const { ledger, settings: { formats, minSaving } } = context;
  const limit = Math.floor(work.file.size * (1 - minSaving));
  await Promise.all(formats.map(async (format) => {
    if (work.variants.has(format)) await makeVariant(work, format, format, limit, context);
    const delta = deltaOf[format];
    if (!delta || !work.variants.has(delta)) return;
    const plain = work.variants.get(format)?.size ?? work.file.size;
    await makeVariant(work, delta, format, Math.floor(plain * DELTA_SHARE), context);
  }));
  ledger.records.set(work.file.path, settledRecord(work));
  if (isLeftAlone(work.variants)) ledger.skipped++;
  await ledger.checkpoint();
}

async function makeVariant(
  work: Work,
  format: VariantFormat | DeltaFormat,
  plain: VariantFormat,
  limit: number,
  context: Context,
): Promise<void> {
  const { state, settings } = work.variants.get(format)!;
  if (state !== "pending") return;
  const job = jobFor(work, format, context.settings.levels[plain], limit, context);
  let left = job.size;
  const outcome = await context.pool.run(job, (bytes) => {
    left -= bytes;
    context.progress.advance(format, bytes);
  });
  context.progress.advance(format, left);
  context.ledger.spend(work.file.path, outcome.elapsedMs);
  if (outcome.state === "failed") {
    context.ledger.fail(work.file.path, new Error(`${extensions[format]}: ${outcome.message}`));
    return await fallBack(work, format, context);
  }
  if (outcome.state === "kept") context.ledger.compressed.add(work.file.path);
  const made = outcome.state === "kept" ? { size: outcome.size, sha256: outcome.sha256 } : {};
  work.variants.set(format, { state: outcome.state, settings, ...made });
}

/** After a failure: what a former run made is kept if it was of the same content, and must go otherwise. */
async function fallBack(work: Work, format: VariantFormat | DeltaFormat, context: Context): Promise<void> {
  const before = context.ledger.before[work.file.path];
  const former = before?.sha256 === work.sha256 ? before.variants[format] : undefined;
  if (former) {
    work.variants.set(format, former);
    return;
  }
  work.variants.delete(format); // unknown, so that the next run tries again
  await removeVariants(work.file.path, (each) => each === format, context);
}

function jobFor(
  { file, sha256, dictionary }: Work,
  format: VariantFormat | DeltaFormat,
  level: number,
  limit: number,
  context: Context,
): Job {
  const target = targetOf(context, file.path + extensions[format]);
  const isDelta = format === "dcb" || format === "dcz";
  return {
    path: file.path,
    source: join(context.places.source, file.path),
    target,
    temporary: temporaryPath(target),
    format,
    level,
    ...(isDelta && {
      dictionary: join(context.places.previous!, dictionary!.path),
      dictionarySha256: dictionary!.sha256,
    }),
    sha256,
    size: file.size,
    mtimeMs: file.mtimeMs,
    mode: file.mode,
    limit,
  };
}
