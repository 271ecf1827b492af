import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { copyBeside, partVariants, toBeCopied } from "./beside.ts";
import { carryOut } from "./carry_out.ts";
import { type Context, isCopying, type Places } from "./context.ts";
import { Ledger } from "./ledger.ts";
import { manifestName, readManifest } from "./manifest.ts";
import { type PrecompressOptions, type Settings, settingsOf } from "./options.ts";
import { placesOf } from "./places.ts";
import { plan, type Work } from "./plan.ts";
import { Pool } from "./pool.ts";
import { FormerFiles } from "./previous.ts";
import { explain } from "./problem.ts";
import { ProgressMeter } from "./progress.ts";
import { type PrecompressReport, summarize } from "./report.ts";
import { removeMissing, removeTemporaries } from "./upkeep.ts";
import { type FoundFile, type Tree, walk } from "./walk.ts";

/**
 * Compresses every file of a folder that is worth it, ahead of serving: `app.js` gets `app.js.br`, `app.js.zst` and
 * `app.js.gz` beside it, with the same bytes on every runtime.
 *
 * What did not change since the last run, by content, is not compressed again. Variants appear under their names only
 * when complete. A file that cannot be handled is reported, and all others are done.
 *
 * @param directory The folder.
 * @param options.out Where to write a copy of the tree with the variants. Default: in place.
 * @param options.formats Default: brotli, zstd, gzip.
 * @param options.levels Default: brotli 11, zstd 19, gzip 12.
 * @param options.minSize Files smaller than this many bytes are left alone. Default: 1024.
 * @param options.minSaving The share that a variant must save. Default: 0.05.
 * @param options.previous The former deploy's folder, for deltas. Default: none.
 * @param options.signal Stops the run, leaving no temporary file.
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
  const started = performance.now();
  const settings = settingsOf(options, availableParallelism());
  const { signal } = options;
  signal?.throwIfAborted();
  const places = await placesOf(directory, options);
  const tree = await walk(places.source, isManifest, signal);
  if (isCopying(places) && !settings.dryRun) await makeFolder(places.target);
  const manifest = await readManifest(places.target);
  const pool = new Pool(settings.jobs);
  const context: Context = {
    places,
    settings,
    isWanted: await wantedBy(settings),
    former: places.previous === undefined ? undefined : await FormerFiles.in(places.previous, signal),
    ledger: new Ledger(places.target, isCopying(places), manifest),
    pool,
    progress: new ProgressMeter(options.onProgress),
  };
  const stop = () => pool.stop(signal!.reason);
  signal?.addEventListener("abort", stop);
  try {
    const files = await run(tree, manifest?.copied ?? false, context, signal);
    return summarize(files, context.ledger, performance.now() - started);
  } finally {
    signal?.removeEventListener("abort", stop);
    await pool.stop(signal?.reason);
  }
}

async function run(tree: Tree, copied: boolean, context: Context, signal?: AbortSignal): Promise<FoundFile[]> {
  const { ledger, places, settings } = context;
  const { files, beside } = partVariants(tree.files);
  const extra = await toBeCopied(beside, places);
  requireMatch(files, context);
  const all = [...files, ...extra.map(({ file }) => file)];
  ledger.problems.push(...tree.problems);
  if (!settings.dryRun) await removeAllTemporaries(tree, places, signal);
  await removeMissing(all, copied && isCopying(places), context);
  try {
    const works = await planAll(files, context, signal);
    if (works.length > 0 && !settings.dryRun) {
      await ledger.save(); // what is written from here on is known to be ours, whatever happens
      await carryOutAll(works, context);
    }
    for (const each of extra) {
      signal?.throwIfAborted();
      await copyBeside(each, context).catch((error) => ledger.fail(each.file.path, error));
    }
  } finally {
    if (!settings.dryRun) await ledger.close(); // also when stopped: what was finished is kept
  }
  return all;
}

async function removeAllTemporaries(tree: Tree, places: Places, signal?: AbortSignal): Promise<void> {
  await removeTemporaries(places.source, tree.temporaries);
  if (!isCopying(places)) return;
  await removeTemporaries(places.target, (await walk(places.target, isManifest, signal)).temporaries);
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new Error(`cannot write to ${path}: ${explain(cause)}`, { cause });
  }
}

/** The largest first, so that no long job is left for the end. */
async function planAll(files: readonly FoundFile[], context: Context, signal?: AbortSignal): Promise<Work[]> {
  const works: Work[] = [];
  let jobs = 0;
  for (const file of files.toSorted((a, b) => b.size - a.size)) {
    signal?.throwIfAborted();
    try {
      const work = await plan(file, context);
      if (!work) continue;
      works.push(work);
      for (const [format, { state }] of work.variants) {
        if (state !== "pending") continue;
        context.progress.expect(format, file.size);
        jobs++;
      }
      if (!context.settings.dryRun) context.pool.prepare(jobs);
    } catch (error) {
      context.ledger.fail(file.path, error);
    }
  }
  return works;
}

/** Enough files at a time to keep the pool busy, whatever the number of files. */
async function carryOutAll(works: readonly Work[], context: Context): Promise<void> {
  const waiting = works.values();
  const lanes = Array.from({ length: 2 * context.settings.jobs + 2 }, async () => {
    for (const work of waiting) await carryOut(work, context);
  });
  await Promise.all(lanes);
}

function isManifest(path: string): boolean {
  return path.slice(path.lastIndexOf("/") + 1) === manifestName;
}

/** Patterns that match nothing are mistaken, and would have every variant removed. */
function requireMatch(files: readonly FoundFile[], { isWanted, places, settings }: Context): void {
  if (settings.include.length === 0 || files.length === 0 || files.some(({ path }) => isWanted(path))) return;
  const patterns = settings.include.join(", ");
  const hint = "a pattern is for the whole path below the folder, as in assets/*.js or **/*.js";
  throw new Error(`no file in ${places.source} is to be compressed by include ${patterns}: ${hint}`);
}

async function wantedBy({ include, exclude }: Settings): Promise<(path: string) => boolean> {
  if (include.length === 0 && exclude.length === 0) return () => true;
  const { default: picomatch } = await import("picomatch");
  const globs = (patterns: readonly string[]) => picomatch([...patterns], { dot: true });
  const included = include.length > 0 ? globs(include) : () => true;
  const excluded = exclude.length > 0 ? globs(exclude) : () => false;
  return (path) => included(path) && !excluded(path);
}
