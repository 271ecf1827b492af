import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import {
  holds,
  isWithin,
  precompressOptions,
  realOf,
  toldBy,
  UnmatchedError,
  withFolders,
} from "../precompress/internal.ts";
import {
  extensions,
  precompress,
  type PrecompressOptions,
  type PrecompressProgress,
  type PrecompressReport,
} from "../precompress/mod.ts";
import { schema, type SchemaOf } from "../streams/internal.ts";

/**
 * Options of the plugins: those of `precompress()` that apply to a build. Relative paths are below the project's root.
 *
 * `immutable` adds to the build's own information about its files. A missing folder of `previous`, as before the first
 * deploy, is not an error: then there are no deltas, and the summary says so.
 *
 * @example Deltas against the previous deploy, and a copy that survives the next build
 * ```ts
 * import { precompress, type PrecompressPluginOptions } from "@millrace/streams/vite";
 *
 * const options: PrecompressPluginOptions = { out: "site", previous: "deployed" };
 * console.log(precompress(options).name); // millrace:precompress
 * ```
 */
export interface PrecompressPluginOptions extends Omit<PrecompressOptions, "dryRun" | "signal" | "onProgress"> {}

export const pluginOptions: SchemaOf<PrecompressPluginOptions> = /* @__PURE__ */ schema("precompress()", () => {
  const { dryRun: _dryRun, signal: _signal, onProgress: _onProgress, ...members } = precompressOptions.members;
  return members;
});

let moments = 0;

/** Returns a number larger than all earlier results. */
export function moment(): number {
  return ++moments;
}

/** The last run of a plugin, with its settings in JSON, by the real path of the output folder. */
const runs = new Map<string, { readonly at: number; readonly settings: string }>();

/**
 * @throws {TypeError} if another plugin has compressed to the folder since the start of the build: each would remove
 * the other's variants.
 */
function requireOnePlugin(folder: string, { out, ...others }: PrecompressPluginOptions, { root, since }: Tool): void {
  const target = realOf(out ?? folder, root);
  const settings = JSON.stringify(others);
  const last = runs.get(target);
  if (last !== undefined && last.at > since && last.settings !== settings) {
    throw new TypeError(
      'two precompress() compress to one folder: use one, with all formats, as formats: ["gzip", "brotli"]',
    );
  }
  runs.set(target, { at: moment(), settings });
}

/** The default length of a hash in a pattern. */
const DEFAULT_LENGTH = 8;

/**
 * Whether a name has a hash by a tool's pattern, such as `[name]-[hash][extname]`.
 *
 * @param hashOf Returns a regular expression of the tool's hashes of a length.
 */
export function hasHash(path: string, pattern: string, hashOf: (length: number) => string): boolean {
  if (!/\[hash(?::\d+)?\]/.test(pattern)) return false;
  const source = pattern.replace(/^(?:\.?\/)+/, "").split(/(\[dir\]\/|\[\w+(?::\d+)?\])/).map((part) => {
    if (part === "[dir]/") return "(?:.*/)?"; // empty at the top
    const [, name, length] = /^\[(\w+)(?::(\d+))?\]$/.exec(part) ?? [];
    if (name === "hash") return hashOf(Number(length ?? DEFAULT_LENGTH));
    return name === undefined ? part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : ".*";
  });
  return new RegExp(`^${source.join("")}$`, "s").test(path.replaceAll("\\", "/"));
}

/**
 * A plugin of esbuild or of Bun's bundler.
 *
 * @example Only where it is wanted
 * ```ts
 * import { precompress, type PrecompressPlugin } from "@millrace/streams/esbuild";
 * import process from "node:process";
 *
 * const plugins: PrecompressPlugin[] = process.env.PREVIEW ? [] : [precompress()];
 * console.log(plugins[0]?.name); // millrace:precompress
 * ```
 */
export interface PrecompressPlugin {
  /** The plugin's name in messages of the tool. */
  readonly name: string;
  /** Called by the tool, with its own object for plugins. */
  setup(build: object): void;
}

/** The output files of a build until they are compressed, and whether their names have a hash. */
export class Output {
  readonly #folders = new Set<string>();
  /** Whether the name has a hash, by absolute path. */
  readonly #hashed = new Map<string, boolean>();

  add(folder: string, path: string, isHashed: boolean): void {
    this.addFolder(folder);
    this.#hashed.set(resolve(folder, path), isHashed);
  }

  addFolder(folder: string): void {
    this.#folders.add(resolve(folder));
  }

  /** Returns the outermost folders of the files, and clears the list. */
  takeFolders(): string[] {
    const all = [...this.#folders];
    this.#folders.clear();
    // Of two spellings of one folder, on a disk that ignores case, each holds the other: the first one is kept.
    const kept = all.filter((folder, i) =>
      !all.some((other, j) => i !== j && holds(other, folder) && (j < i || !holds(folder, other)))
    );
    for (const folder of all) {
      const outer = kept.find((each) => holds(each, folder));
      if (outer === undefined || isWithin(folder, outer)) continue;
      // Also adds files below `folder` by their paths below `outer`, another spelling of `folder` or of one above it.
      let same = folder;
      while (same !== dirname(same) && holds(outer, dirname(same))) same = dirname(same);
      for (const [path, isHashed] of [...this.#hashed]) {
        if (isWithin(path, folder)) this.#hashed.set(join(outer, relative(same, path)), isHashed);
      }
    }
    return kept;
  }

  /** Whether the name of a file below `folder` has a hash; undefined if the file is not from this build. */
  isHashed(folder: string, path: string): boolean | undefined {
    return this.#hashed.get(join(folder, path));
  }
}

/** Returns `folder` relative to `root` if that is shorter. */
export function shownFolder(folder: string, root: string): string {
  return isWithin(folder, root) ? relative(root, folder).replaceAll(sep, "/") : folder;
}

/** Formats the report of a run: a line for each type of file, like the output of build tools, and one for the total. */
export function formatReport({ types, compressed, unchanged, elapsedMs }: PrecompressReport): string {
  const columns = Object.keys(extensions) as (keyof typeof extensions)[];
  const used = columns.filter((format) => types.some(({ variants }) => variants[format] !== undefined));
  const rows = types.map(({ type, files, bytes, variants }) => [
    type,
    `${files} ${files === 1 ? "file" : "files"}`,
    kilobytes(bytes),
    ...used.map((format) => variants[format] === undefined ? "-" : kilobytes(variants[format])),
  ]);
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column].length))) ?? [];
  const labels = ["", "", "", ...used.map((format) => `│ ${format}: `)];
  const lines = rows.map((row) => {
    return row.map((cell, i) => labels[i] + (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ");
  });
  const parts = [`${compressed.length} ${compressed.length === 1 ? "file" : "files"} precompressed`];
  if (unchanged > 0) parts.push(`${unchanged} unchanged`);
  const elapsed = elapsedMs < 1000 ? `${Math.round(elapsedMs)}ms` : `${(elapsedMs / 1000).toFixed(2)}s`;
  return [...lines, `✓ ${parts.join(", ")} in ${elapsed}`].join("\n");
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(2)} kB`;
}

/** A build tool, as its plugin presents it. */
export interface Tool {
  /** The project's folder, the base of relative paths. */
  readonly root: string;
  /** The {@linkcode moment} at which the build started. */
  readonly since: number;
  /** The option that names the folder of the output, for messages. */
  readonly option: string;
  /** Prints lines in the tool's style; without `info`, only warnings. */
  readonly logger: { info?(text: string): void; warn(text: string): void };
  /** Whether the tool has named a file, outside {@linkcode Output}, by a hash. */
  readonly isHashed?: (path: string) => boolean;
  /** Whether further pages come, and the folders are compressed again: no pattern is judged before. */
  readonly isFirst?: boolean;
  /** Whether the folders were compressed before: then nothing but warnings is printed without changes. */
  readonly isAgain?: boolean;
}

/** Compresses the complete output of a build, and prints the savings. Returns the folders. */
export async function compressOutput(output: Output, options: PrecompressPluginOptions, tool: Tool): Promise<string[]> {
  const folders = output.takeFolders();
  const told = await toldBy(options.immutable);
  const warnings: (readonly string[])[] = [];
  for (const folder of folders) {
    if (isWithin(tool.root, folder)) {
      throw new Error(
        `cannot compress ${folder}: it holds the whole project. Set ${tool.option} to a folder of its own`,
      );
    }
    requireOnePlugin(folder, options, tool);
    const isHashed = (path: string) => told(path) || (tool.isHashed?.(path) ?? output.isHashed(folder, path));
    warnings.push(await compressFolder(folder, { ...options, immutable: isHashed }, tool));
  }
  // A pattern may be for one of several folders.
  const [first = [], ...others] = warnings;
  const unused = first.filter((each) => others.every((list) => list.includes(each)));
  if (folders.length > 0) unused.push(...told.warnings?.() ?? []);
  for (const each of tool.isFirst ? [] : unused) tool.logger.warn(each);
  return folders;
}

/** Returns the warnings of the run. */
async function compressFolder(
  folder: string,
  options: PrecompressPluginOptions,
  { root, logger, isFirst = false, isAgain = false }: Tool,
): Promise<readonly string[]> {
  const showsProgress = logger.info !== undefined && process.stderr.isTTY === true;
  const { previous, retain, ...settings } = withFolders(
    options,
    (path) => isAbsolute(path) ? path : `${root}${sep}${path}`,
  );
  const missing = [previous ?? []].flat().filter((each) => !existsSync(each));
  const former = [previous ?? []].flat().filter((each) => !missing.includes(each));
  let report: PrecompressReport;
  try {
    report = await precompress(folder, {
      ...settings,
      ...(former.length > 0 && { previous: former, ...(retain !== undefined && { retain }) }),
      ...(showsProgress && { onProgress: showProgress }),
    });
  } catch (error) {
    if (isFirst && error instanceof UnmatchedError) return [];
    throw error;
  } finally {
    if (showsProgress) process.stderr.write("\r\x1b[K");
  }
  if (report.problems.length > 0) {
    const list = report.problems.map(({ path, message }) => `\n  ${path}: ${message}`).join("");
    throw new Error(`cannot compress all of ${shownFolder(folder, root)}:${list}`);
  }
  if (isAgain && report.compressed.length + report.removed.length === 0) return report.warnings;
  logger.info?.(formatReport(report));
  for (const each of missing) logger.info?.(`there is no ${shownFolder(each, root)} yet, so there are no deltas`);
  return report.warnings;
}

function showProgress({ fraction, remainingMs }: PrecompressProgress): void {
  const remaining = remainingMs === undefined ? "" : `, ${Math.ceil(remainingMs / 1000)}s to go`;
  process.stderr.write(`\r\x1b[Kprecompressing (${Math.floor(fraction * 100)}%)${remaining}`);
}
