import { availableParallelism } from "node:os";
import { lastingPath, Turn } from "../files/internal.ts";
import { Cache, openStore } from "./cache/cache.ts";
import { compress } from "./compress.ts";
import { type Context, RunLog } from "./context.ts";
import { FormerRuns } from "./former_runs.ts";
import { afterOthers } from "./journal.ts";
import { type PrecompressOptions, precompressOptions, settingsOf, withFolders } from "./options.ts";
import { placesOf } from "./places.ts";
import { planSite } from "./plan_site.ts";
import { Pool, ProgressMeter } from "./pool.ts";
import { type PrecompressReport, report, type RunDetails } from "./report.ts";
import { immutabilityOf, selectionOf } from "./selection.ts";
import { Target } from "./target.ts";
import { PreviousFiles } from "./tree_files.ts";
import { walkSite } from "./walk_site.ts";
import { write } from "./write.ts";

/**
 * Compresses the files of a folder ahead of serving, if that saves enough: `app.js` gets `app.js.br`, `app.js.zst` and
 * `app.js.gz` beside it, with the same bytes on every runtime.
 *
 * Files with the same content as in the last run are not compressed again. Variants get their names only when complete.
 * A file that cannot be processed is reported, and all others are processed.
 *
 * @param directory The folder.
 * @returns The report of the run.
 * @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range.
 * @throws {Error} if the folder cannot be read, or that of `out` cannot be written to, with the file system's error as
 * its `cause`.
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

/** Runs {@linkcode precompress}, and also returns details of each file. */
export async function precompressInDetail(directory: string, options: PrecompressOptions): Promise<RunDetails> {
  const started = performance.now();
  const source = lastingPath(directory); // now, as the process may go elsewhere
  const settings = settingsOf(withFolders(precompressOptions(options), lastingPath), availableParallelism());
  const { dryRun, signal } = settings;
  signal?.throwIfAborted();
  const selection = await selectionOf(settings);
  const places = await placesOf(source, settings);
  // Waits for other runs of this process; a dry run, which changes nothing, does not wait.
  const turn = dryRun ? undefined : await Turn.take(places.target.path, { signal });
  try {
    return await afterOthers(() => run({ places, settings, selection, started }));
  } finally {
    turn?.end();
  }
}

/** Runs the five stages, each on the results of the previous one; only the fourth changes files. */
async function run(asked: Asked): Promise<RunDetails> {
  const context = await contextOf(asked);
  const { cache, pool, settings: { signal }, target } = context;
  const stop = () => pool.stop(signal!.reason);
  signal?.addEventListener("abort", stop);
  try {
    const found = await walkSite(context);
    const plan = await planSite(found, context);
    const made = await write(plan, (put) => compress(plan, put, context), context);
    return report(made, context);
  } finally {
    signal?.removeEventListener("abort", stop);
    target.leave(); // the journal contains the finished files
    await pool.stop(signal?.reason);
    await cache?.close();
  }
}

/** The checked arguments of a run. */
type Asked = Pick<Context, "places" | "settings" | "selection" | "started">;

async function contextOf(asked: Asked): Promise<Context> {
  const { places, selection, settings } = asked;
  const { dryRun, followLinks, jobs, memory, onProgress, signal } = settings;
  const isCopy = places.source !== places.target;
  const former = await FormerRuns.of(places.target, { isCopy, followLinks });
  const origin = isCopy ? await FormerRuns.of(places.source, { isCopy: false, followLinks }) : former;
  return {
    ...asked,
    origin,
    former,
    target: new Target(former),
    previous: await Promise.all(places.previous.map((folder) => PreviousFiles.in(folder, settings))),
    isImmutable: immutabilityOf(selection.told, [origin.records, former.records]),
    ledger: new RunLog(former.records),
    pool: new Pool(jobs, memory),
    progress: new ProgressMeter(onProgress),
    trialIn: undefined,
    cache: places.cache === undefined || dryRun
      ? undefined
      : new Cache(await openStore(places.cache, settings, signal)),
  };
}
