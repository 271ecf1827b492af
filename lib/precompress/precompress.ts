import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { lastingPath, temporaryDirectory, Turn } from "../files/internal.ts";
import { isAbandonedTemporary } from "../files/mod.ts";
import { act, carryOutAll } from "./carry_out.ts";
import { Cache, openStore } from "./cache/cache.ts";
import { isAddress } from "./cache/cache_store.ts";
import { afterOthers } from "./journal.ts";
import { type Context, Ledger } from "./context.ts";
import { immutabilityOf, requireMatch, type Selection, selectionOf, toldBy } from "./selection.ts";
import { type PrecompressOptions, precompressOptions, type Settings, settingsOf } from "./options.ts";
import { isOwnName, manifestName } from "./manifest.ts";
import { type Places, placesOf } from "./places.ts";
import { Plan, type Work } from "./plan.ts";
import { planExtra, planFile, planStale } from "./plan_file.ts";
import { Pool, ProgressMeter } from "./pool.ts";
import { PreviousFiles, type TreeFiles, treeFilesOf } from "./tree_files.ts";
import { cannotWrite } from "./problem.ts";
import { dropGone, recordExtra, recordSettled } from "./record_work.ts";
import { type PrecompressReport, type RunDetails, summarize } from "./report.ts";
import { planSiteDictionary } from "./site/site_dictionary.ts";
import { Target } from "./target.ts";
import { type Tree, walk } from "./walk.ts";

/**
 * Compresses every file of a folder that is worth it, ahead of serving: `app.js` gets `app.js.br`, `app.js.zst` and
 * `app.js.gz` beside it, with the same bytes on every runtime.
 *
 * Files whose content is the same as in the last run are not compressed again. Variants appear under their names only
 * when complete. A file that cannot be handled is reported, and all others are done.
 *
 * @param directory The folder.
 * @returns What was done.
 * @throws {TypeError | RangeError} if an option is not what it should be.
 * @throws {Error} if the folder cannot be read or that of `out` not be written to, with the file system's error as its
 * `cause`.
 * @throws the reason of `signal` once it is aborted.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9842} for the deltas
 * @example Compress a build before a deploy
 * ```ts
 * import { precompress } from "@millrace/streams/precompress";
 *
 * const report = await precompress("dist");
 * console.log(report.compressed.includes("index.html"), report.problems.length); // true 0
 * ```
 */
export async function precompress(directory: string, options: PrecompressOptions = {}): Promise<PrecompressReport> {
  return (await precompressInDetail(directory, options)).report;
}

/** The options with folders that last when the process goes elsewhere. Plugins take theirs as below the project. */
function withLastingFolders<Options extends PrecompressOptions>(options: Options): Options {
  const { out, previous, cache } = options;
  return {
    ...options,
    ...(out !== undefined && { out: lastingPath(out) }),
    ...(previous !== undefined && { previous: lastingPath(previous) }),
    ...(cache !== undefined && !isAddress(cache) && { cache: lastingPath(cache) }),
  };
}

/** Does what {@linkcode precompress} does, and tells what the run knows of each file besides. */
export async function precompressInDetail(given: string, options: PrecompressOptions): Promise<RunDetails> {
  const directory = lastingPath(given);
  const started = performance.now();
  const settings = settingsOf(withLastingFolders(precompressOptions(options)), availableParallelism());
  const { signal } = settings;
  signal?.throwIfAborted();
  const selection = await selectionOf(settings);
  const told = await toldBy(settings.immutable);
  const places = await placesOf(directory, settings);
  // Behind other runs of this process; one that only looks changes nothing, and waits for none.
  const turn = settings.dryRun ? undefined : await Turn.take(places.target, { signal });
  try {
    return await afterOthers(() => precompressIn(places, { directory, settings, selection, told, started }));
  } finally {
    turn?.end();
  }
}

/** Options of a run that were checked. */
interface Checked {
  readonly directory: string;
  readonly settings: Settings;
  readonly selection: Selection;
  readonly told: Awaited<ReturnType<typeof toldBy>>;
  /** When the run was asked for, of `performance.now()`. */
  readonly started: number;
}

async function precompressIn(
  places: Places,
  { directory, settings, selection, told, started }: Checked,
): Promise<RunDetails> {
  const { followLinks, signal } = settings;
  const isCopy = places.source !== places.target;
  const cache = places.cache === undefined || settings.dryRun
    ? undefined
    : new Cache(await openStore(places.cache, settings, signal));
  const target = await Target.of(places.target, { isCopy, followLinks: followLinks && !isCopy });
  if (isCopy && !settings.force) await requireOwn(target);
  const origin = isCopy ? await Target.of(places.source, { isCopy: false, followLinks }) : target;
  const tree = await walk(places.source, {
    ...settings,
    once: !isCopy,
    copiedTo: isCopy ? places.target : undefined,
    isExcluded: selection.isExcluded,
  });
  const files = await treeFilesOf(tree.files, origin);
  if (tree.files.length === 0 && tree.problems.length === 0) {
    throw new Error(`there are no files in ${directory}: build first, or name another folder`);
  }
  if (files.files.length > 0) requireMatch(files.files, selection, settings, places.source);
  const pool = new Pool(settings.jobs, settings.memory);
  const context: Context = {
    places,
    settings,
    selection,
    origin,
    target,
    previous: places.previous === undefined ? undefined : await PreviousFiles.in(places.previous, settings),
    siteDictionary: undefined,
    cache,
    isImmutable: immutabilityOf(told, [origin.provenance.records, target.provenance.records]),
    ledger: new Ledger(target.provenance.records),
    pool,
    progress: new ProgressMeter(settings.onProgress),
  };
  const stop = () => pool.stop(signal!.reason);
  signal?.addEventListener("abort", stop);
  try {
    await run(tree, files, context, signal);
    const count = files.files.length + (isCopy ? files.beside.size : 0);
    const { ledger } = context;
    return {
      report: summarize(count, tree.dotfiles, ledger, performance.now() - started),
      places,
      settings,
      records: ledger.records,
      before: target.provenance.records,
      leftAlone: ledger.leftAlone,
    };
  } finally {
    signal?.removeEventListener("abort", stop);
    target.leave();
    await pool.stop(signal?.reason);
    await cache?.close();
  }
}

async function run(tree: Tree, files: TreeFiles, context: Context, signal?: AbortSignal): Promise<void> {
  const { ledger, settings, target } = context;
  for (const { path, message } of tree.problems) ledger.fail(path, new Error(message));
  const plan = await planAll(tree, files, context, signal);
  if (settings.dryRun) return await reportPlan(plan, context);
  if (!plan.isEmpty) await target.begin({ signal });
  try {
    await act(plan, context, signal);
  } catch (error) {
    target.leave(); // what was finished is in the journal
    throw error;
  }
  dropGone(plan, context);
  if (plan.isEmpty && target.isNews(ledger.records)) await target.begin({ signal });
  await target.end(ledger.records).catch((error) => ledger.fail(manifestName, error));
  ledger.cache = await context.cache?.end();
}

async function planAll(tree: Tree, files: TreeFiles, context: Context, signal?: AbortSignal): Promise<Plan> {
  const { ledger, pool, progress, settings, target } = context;
  const plan = new Plan(await abandonedTemporaries(tree, target, signal));
  let [jobs, bytes] = [0, 0];
  const expectWork = ({ file, isSettled, variants }: Work): void => {
    if (isSettled) return;
    for (const { format, record } of variants) {
      if (record) continue;
      progress.expect(format, file.size);
      jobs++;
      bytes += file.size;
    }
  };
  if (settings.siteDictionary) await planSiteDictionary(files, plan, context, signal);
  for (const work of plan.works) expectWork(work);
  // The largest first, so that no long job is left for the end.
  for (const file of files.files.toSorted((a, b) => b.size - a.size)) {
    signal?.throwIfAborted();
    await planFile(file, files, plan, context).catch((error) => ledger.fail(file.path, error));
    const work = plan.works.at(-1);
    if (work?.file === file) expectWork(work);
    if (!settings.dryRun) pool.prepare(jobs, bytes); // they load meanwhile
  }
  for (const file of target.isCopy ? files.beside.values() : []) {
    signal?.throwIfAborted();
    await planExtra(file, plan, context);
  }
  for (const path of files.beside.keys()) {
    // Of a run whose manifest is lost, and of no use without the folder of `previous`.
    if (/\.dc[bz]$/.test(path) && !plan.decided.has(await target.placeOf(path))) ledger.found.push(path);
  }
  await planStale(tree, plan, context);
  return plan;
}

/** Notes a plan in the ledger as if it had been carried out. */
async function reportPlan(plan: Plan, context: Context): Promise<void> {
  const { ledger, pool } = context;
  for (const path of plan.stale) ledger.removed.push(path);
  if (plan.newDictionary) ledger.compressed.add(plan.newDictionary.file.path);
  for (const { file } of plan.copies) ledger.copied.push(file.path);
  const open = plan.works.filter(({ isSettled }) => !isSettled);
  for (const work of plan.works) if (work.isSettled) recordSettled(work, context);
  // After the manifest was lost, only the bytes that a run would make tell what it would put there.
  if (!plan.newDictionary && open.some(({ variants }) => variants.some(({ theirs }) => theirs !== undefined))) {
    const folder = await temporaryDirectory();
    try {
      pool.prepare(open.length, Infinity);
      await carryOutAll(open, { ...context, trialIn: folder.path });
    } finally {
      await folder[Symbol.asyncDispose]();
    }
  } else {
    for (const work of open) {
      ledger.compressed.add(work.file.path);
      recordSettled(work, context);
    }
  }
  for (const extra of plan.extras) recordExtra(extra, context);
}

/** The temporary files below the target that killed runs left there. */
async function abandonedTemporaries(tree: Tree, { folder, isCopy }: Target, signal?: AbortSignal): Promise<string[]> {
  if (isCopy && !existsSync(folder)) return [];
  const walked = isCopy ? await walk(folder, { dotfiles: true, followLinks: false, once: true, signal }) : tree;
  const abandoned: string[] = [];
  for (const path of walked.temporaries) if (await isAbandonedTemporary(join(folder, path))) abandoned.push(path);
  return abandoned;
}

/** @throws {Error} if there are files in a folder for copies that no run put there. */
async function requireOwn({ folder, manifest, journal }: Target): Promise<void> {
  if (manifest?.copied || journal?.copied) return;
  const names = await readdir(folder).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw cannotWrite(folder, error);
  });
  const foreign = names.filter((name) => !isOwnName(name)).sort();
  if (foreign.length === 0) return;
  const told = foreign.slice(0, 3).join(", ") + (foreign.length > 3 ? ` and ${foreign.length - 3} more` : "");
  throw new Error(`${folder} holds files that no run put there (${told}): choose an empty folder, or use --force`);
}
