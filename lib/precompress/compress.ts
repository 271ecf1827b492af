import { basename } from "node:path";
import { levels as ranges } from "../codecs/mod.ts";
import { withoutGroup } from "../files/internal.ts";
import type { Context } from "./context.ts";
import { codecOf, type DeltaFormat, deltasOf, type VariantFormat } from "./formats.ts";
import type { Job, Outcome } from "./job.ts";
import { isSettled, type Plan, type PlannedVariant, type Work } from "./plan.ts";
import type { VariantRecord } from "./records.ts";
import { variantPath } from "./tree_files.ts";

/** The share of the plain variant that a delta must stay below, since browsers store a dictionary for it. */
const DELTA_SHARE = 0.9;

/** A finished variant, ready for its place; the receiver removes the temporary file. */
export interface MadeVariant {
  readonly work: Work;
  readonly variant: PlannedVariant;
  readonly job: Job;
  readonly outcome: Outcome;
}

/** Puts a variant in its place; returns the record of the present one, which decides the limit of deltas. */
export type Put = (made: MadeVariant) => Promise<VariantRecord | undefined>;

/**
 * Makes the missing variants of a plan, of enough files at a time to keep the pool busy. Throws the reason of a stop once
 * all calls of `put` have ended: files written while the run ends would be missing in its manifest.
 */
export async function compress({ works, failed }: Plan, put: Put, context: Context): Promise<void> {
  const waiting = [...works].filter((work) => !isSettled(work) && !failed.has(work.file.path)).values();
  await allEnded(Array.from({ length: 2 * context.settings.jobs + 2 }, async () => {
    for (const work of waiting) await makeVariants(work, put, context);
  }));
}

async function makeVariants(work: Work, put: Put, context: Context): Promise<void> {
  const { formats, levels, minSaving } = context.settings;
  const planned = new Map(work.variants.map((variant) => [variant.format, variant]));
  await allEnded(formats.map(async (plain) => {
    const make = async (format: VariantFormat | DeltaFormat, limit: number): Promise<VariantRecord | undefined> => {
      const variant = planned.get(format);
      if (variant === undefined || variant.record) return variant?.record;
      const level = Math.max(levels[plain], ranges[codecOf(format)].min);
      const job = jobFor(variant, work, { level, limit }, context);
      return await put({ work, variant, job, outcome: await run(job, context) });
    };
    const record = await make(plain, Math.floor(work.file.size * (1 - minSaving)));
    const share = Math.floor((record?.size ?? work.file.size) * DELTA_SHARE);
    for (const delta of deltasOf[plain]) await make(delta, share);
  }));
}

/** Waits for all steps, also after one has failed. @throws {unknown} the first failure. */
async function allEnded(steps: readonly Promise<void>[]): Promise<void> {
  for (const step of await Promise.allSettled(steps)) if (step.status === "rejected") throw step.reason;
}

function jobFor(
  { format, dictionary }: PlannedVariant,
  work: Work,
  how: Pick<Job, "level" | "limit">,
  context: Context,
): Job {
  const { former, places, trialIn } = context;
  const { file, sha256 } = work;
  const path = variantPath(file.path, format);
  return {
    ...how,
    ...file,
    mode: withoutGroup(file.mode) | 0o600, // until it has the group
    source: (work.folder ?? places.source).at(file.path),
    temporary: trialIn?.temporaryFor(basename(path)) ?? former.folder.temporaryFor(path),
    format,
    ...(dictionary && { dictionary: dictionary.folder.at(dictionary.path), dictionarySha256: dictionary.sha256 }),
    sha256,
    keepsAny: context.cache !== undefined,
  };
}

async function run(job: Job, { cache, ledger, pool, progress, settings }: Context): Promise<Outcome> {
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
    ledger.times.set(job.path, (ledger.times.get(job.path) ?? 0) + outcome.elapsedMs);
    return outcome;
  } finally {
    await entry?.release();
  }
}
