import { mkdir, realpath, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";
import { carryOut } from "./carry_out.ts";
import { type Context, isCopying, type Places } from "./context.ts";
import { Ledger } from "./ledger.ts";
import { manifestName, readManifest } from "./manifest.ts";
import { extensions, type PrecompressOptions, type Settings, settingsOf } from "./options.ts";
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
 * @throws {Error} if the folder cannot be read or the manifest not be written, with the `code` of the file system.
 * @throws the reason of `signal` once it is aborted.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9842} for the deltas
 * @example Compress a build before a deploy
 * ```ts
 * import { mkdtemp, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { precompress } from "@millrace/streams/precompress";
 *
 * const directory = await mkdtemp(join(tmpdir(), "site-"));
 * await writeFile(join(directory, "index.html"), "<p>The mill turns.</p>\n".repeat(200));
 * const report = await precompress(directory);
 * console.log(report.compressed); // [ "index.html" ]
 * ```
 */
export async function precompress(directory: string, options: PrecompressOptions = {}): Promise<PrecompressReport> {
  const started = performance.now();
  const settings = settingsOf(options, availableParallelism());
  const { signal } = options;
  signal?.throwIfAborted();
  const places = await placesOf(directory, options);
  const tree = await walk(places.source, (path) => path === manifestName, signal);
  if (isCopying(places) && !settings.dryRun) await mkdir(places.target, { recursive: true });
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
  const files = withoutVariants(tree.files);
  ledger.problems.push(...tree.problems);
  if (!settings.dryRun) {
    await removeTemporaries(places.source, tree.temporaries);
    if (isCopying(places)) await removeTemporaries(places.target, (await walk(places.target, () => false)).temporaries);
  }
  await removeMissing(files, copied && isCopying(places), context);

  const works: Work[] = [];
  for (const file of files.toSorted((a, b) => b.size - a.size)) {
    signal?.throwIfAborted();
    try {
      const work = await plan(file, context);
      if (!work) continue;
      works.push(work);
      for (const [format, { state }] of work.variants) {
        if (state === "pending") context.progress.expect(format, file.size);
      }
    } catch (error) {
      ledger.fail(file.path, error);
    }
  }
  if (settings.dryRun) return files;
  if (works.length > 0) await ledger.write(); // what is written from here on is known to be ours, whatever happens
  await carryOutAll(works, context);
  await ledger.write();
  return files;
}

/** Enough files at a time to keep the pool busy, whatever the number of files. */
async function carryOutAll(works: readonly Work[], context: Context): Promise<void> {
  const waiting = works.values();
  const lanes = Array.from({ length: 2 * context.settings.jobs + 2 }, async () => {
    for (const work of waiting) await carryOut(work, context);
  });
  await Promise.all(lanes);
}

/** A file beside the one that it would be a variant of is not compressed again. */
function withoutVariants(files: readonly FoundFile[]): FoundFile[] {
  const paths = new Set(files.map(({ path }) => path));
  const suffixes = Object.values(extensions);
  return files.filter(({ path }) => {
    const suffix = suffixes.find((each) => path.endsWith(each));
    return suffix === undefined || !paths.has(path.slice(0, -suffix.length));
  });
}

async function placesOf(directory: string, options: PrecompressOptions): Promise<Places> {
  const source = await folder(directory);
  const target = options.out === undefined ? source : resolve(options.out);
  if (options.out !== undefined && (isBelow(source, target) || isBelow(target, source))) {
    throw new TypeError(`${options.out} and ${directory} must not hold each other: choose a folder elsewhere for out`);
  }
  return { source, target, previous: options.previous === undefined ? undefined : await folder(options.previous) };
}

/** @throws {TypeError} if `path` is not a folder that can be read. */
async function folder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new TypeError(`cannot read ${path}: ${missing ? "there is no such folder" : explain(cause)}`, { cause });
  }
  throw new TypeError(`cannot read ${path}: it is a file, not a folder`);
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && way.split(/[/\\]/)[0] !== "..";
}

async function wantedBy({ include, exclude }: Settings): Promise<(path: string) => boolean> {
  if (include.length === 0 && exclude.length === 0) return () => true;
  const { default: picomatch } = await import("picomatch");
  const globs = (patterns: readonly string[]) => picomatch([...patterns], { dot: true });
  const included = include.length > 0 ? globs(include) : () => true;
  const excluded = exclude.length > 0 ? globs(exclude) : () => false;
  return (path) => included(path) && !excluded(path);
}
