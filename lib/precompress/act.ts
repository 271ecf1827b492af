import { join } from "node:path";
import { copyToTemporary } from "../files/internal.ts";
import { temporaryPath } from "../files/mod.ts";
import { carryOut } from "./carry_out.ts";
import { readContent } from "./content.ts";
import type { Context } from "./context.ts";
import { discard } from "./discard.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./options.ts";
import type { Copy, Plan, Work } from "./plan.ts";
import { CHANGED } from "./problem.ts";
import { recordExtra, recordOf, recordSettled } from "./record_work.ts";
import { putDictionary } from "./site/put_dictionary.ts";
import { variantPath } from "./tree_files.ts";

const formats = Object.keys(extensions) as (VariantFormat | DeltaFormat)[];

/** Does what `plan` says; the context's target has begun. */
export async function act(plan: Plan, context: Context, signal?: AbortSignal): Promise<void> {
  const { ledger, target } = context;
  for (const path of plan.temporaries) await discard(join(target.folder, path));
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
  const kept = formats.filter((format) => variants[format]?.state === "kept").map((format) =>
    variantPath(path, format)
  );
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
    await discard(temporary);
  }
}

/** Enough files at a time to keep the pool busy, whatever the number of files. */
async function carryOutAll(works: readonly Work[], context: Context): Promise<void> {
  const waiting = works.values();
  const lanes = Array.from({ length: 2 * context.settings.jobs + 2 }, async () => {
    for (const work of waiting) await carryOut(work, context);
  });
  // All of them: what is put while the run ends would not be in its manifest.
  for (const lane of await Promise.allSettled(lanes)) if (lane.status === "rejected") throw lane.reason;
}
