import type { CacheReport } from "./cache/cache.ts";
import type { Context, RunLog } from "./context.ts";
import type { DeltaFormat, VariantFormat } from "./formats.ts";
import type { Problem } from "./problem.ts";
import type { FileRecord } from "./records.ts";

/** The results of a run, with its data about each file, for reports. */
export interface RunDetails extends Pick<Context, "places" | "settings">, Pick<RunLog, "records" | "leftAlone"> {
  readonly report: PrecompressReport;
  /** The records of earlier runs, by path; empty if there was none. */
  readonly before: ReadonlyMap<string, FileRecord>;
}

/**
 * Sizes of one kind of file.
 *
 * @example Print what was saved
 * ```ts
 * import { precompress, type TypeSummary } from "@millrace/streams/precompress";
 *
 * const told = ({ type, bytes, variants }: TypeSummary): string => `${type} ${variants.brotli! < bytes / 2}`;
 * const { types } = await precompress("dist", { include: ["assets/*.css"] });
 * console.log(types.map(told).join()); // CSS true
 * ```
 */
export interface TypeSummary {
  /** The kind of file, by its usual name: `JavaScript`, `CSS`, … */
  readonly type: string;
  /** The number of files with a variant. */
  readonly files: number;
  /** The total size of the files in bytes. */
  readonly bytes: number;
  /** The total size of their variants in bytes, by format; a file without one counts with its own size. */
  readonly variants: Readonly<Partial<Record<VariantFormat | DeltaFormat, number>>>;
  /** The time in ms that this run's variants took, summed over the threads. */
  readonly elapsedMs: number;
}

/**
 * The results of a run; with `dryRun`, its expected results.
 *
 * @example Check that nothing is stale
 * ```ts
 * import { precompress, type PrecompressReport } from "@millrace/streams/precompress";
 *
 * await precompress("dist");
 * const { compressed, removed }: PrecompressReport = await precompress("dist", { dryRun: true });
 * console.log(compressed.length + removed.length); // 0
 * ```
 */
export interface PrecompressReport {
  /** The number of files found. */
  readonly files: number;
  /** The files with new variants; with `dryRun`, the expected ones. Paths below the folder. */
  readonly compressed: readonly string[];
  /** The number of files whose variants existed already. */
  readonly unchanged: number;
  /** The number of skipped files: too small, excluded, already compressed, or with too little to save. */
  readonly skipped: number;
  /** The files copied to `out`; with `dryRun`, those to be copied. Paths below the folder. */
  readonly copied: readonly string[];
  /** The files removed because their originals were removed, or no longer save enough; paths below the folder. */
  readonly removed: readonly string[];
  /** The compressed forms that no run wrote: they are used unchanged, and stay. Paths below the folder. */
  readonly found: readonly string[];
  /** The number of names that begin with a dot and are skipped, but not excluded; a folder counts once. */
  readonly dotfiles: number;
  /** The path and size in bytes of the site's dictionary, with `siteDictionary`, if it saves more than it costs. */
  readonly siteDictionary?: { readonly path: string; readonly size: number };
  /** The counts of variants taken from and added to the cache: with `cache`, and without `dryRun`. */
  readonly cache?: CacheReport;
  /** The files that could not be processed; all others were processed. */
  readonly problems: readonly Problem[];
  /** The patterns of `include`, `exclude` and `immutable` that match no file, each with a hint. */
  readonly warnings: readonly string[];
  /** The sizes by kind of file, largest first. */
  readonly types: readonly TypeSummary[];
  /** The duration of the run in ms. */
  readonly elapsedMs: number;
}

const kinds: readonly [string, readonly string[]][] = [
  ["JavaScript", ["js", "mjs", "cjs", "jsx"]],
  ["CSS", ["css"]],
  ["HTML", ["html", "htm", "xhtml"]],
  ["JSON", ["json", "webmanifest", "geojson"]],
  ["source maps", ["map"]],
  ["SVG", ["svg"]],
  ["WebAssembly", ["wasm"]],
  ["XML", ["xml", "rss", "atom"]],
  ["fonts", ["ttf", "otf", "eot", "woff", "woff2"]],
  ["images", ["png", "jpg", "jpeg", "gif", "webp", "avif", "jxl", "ico", "bmp"]],
  ["sound and video", ["mp3", "m4a", "ogg", "opus", "wav", "flac", "mp4", "m4v", "webm", "mov"]],
  ["dictionary", ["dict"]],
  ["text", ["txt", "md", "csv", "ts", "mts", "cts", "tsx", "vue", "svelte", "scss", "less", "yaml", "yml", "toml"]],
];
const kindOf = new Map(kinds.flatMap(([kind, extensions]) => extensions.map((extension) => [extension, kind])));

export function typeOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return kindOf.get(name.slice(dot + 1).toLowerCase()) ?? "other";
}

export function report(
  cache: CacheReport | undefined,
  { former, ledger, places, selection, settings, started }: Context,
): RunDetails {
  const { dotfiles, siteDictionary, records, leftAlone } = ledger;
  const byPath = (a: string, b: string) => a < b ? -1 : 1;
  const report: PrecompressReport = {
    files: ledger.files,
    compressed: [...ledger.compressed].sort(byPath),
    unchanged: ledger.unchanged,
    skipped: ledger.skipped,
    copied: [...ledger.copied].sort(byPath),
    removed: [...ledger.removed].sort(byPath),
    found: [...ledger.found].sort(byPath),
    dotfiles,
    ...(siteDictionary && { siteDictionary: { path: siteDictionary.path, size: siteDictionary.size } }),
    ...(cache && { cache }),
    problems: ledger.problems.toSorted((a, b) => byPath(a.path, b.path)),
    warnings: selection.warnings(),
    types: summarizeTypes(ledger),
    elapsedMs: performance.now() - started,
  };
  return { report, places, settings, before: former.records, records, leftAlone };
}

type Sums = { -readonly [Key in keyof TypeSummary]: TypeSummary[Key] } & { variants: Record<string, number> };

function summarizeTypes({ records, times }: RunLog): TypeSummary[] {
  const types = new Map<string, Sums>();
  for (const [path, record] of records) {
    const variants = Object.entries(record.variants);
    if (!variants.some(([, { state }]) => state !== "unworthy")) continue;
    const type = typeOf(path);
    let summary = types.get(type);
    if (!summary) types.set(type, summary = { type, files: 0, bytes: 0, variants: {}, elapsedMs: 0 });
    summary.files++;
    summary.bytes += record.size;
    summary.elapsedMs += times.get(path) ?? 0;
    for (const [format, { state, size }] of variants) {
      summary.variants[format] = (summary.variants[format] ?? 0) + (state === "unworthy" ? record.size : size!);
    }
  }
  return [...types.values()].sort((a, b) => b.bytes - a.bytes);
}
