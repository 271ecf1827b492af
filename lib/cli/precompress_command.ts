import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { isDirectory, lastingPath } from "../files/internal.ts";
import { detailedRun } from "../precompress/internal.ts";
import {
  type CacheReport,
  cleanPrecompressed,
  extensions,
  type PrecompressProgress,
  type PrecompressReport,
  type Problem,
  type TypeSummary,
} from "../precompress/mod.ts";
import { counted, formatBytes, formatDuration } from "../quantities/mod.ts";
import { printable } from "../static/internal.ts";
import {
  type PrecompressArguments,
  precompressArguments,
  precompressHelp,
  requireFolders,
} from "./precompress_arguments.ts";
import { requireReportPlaces, writeReports } from "./reports.ts";
import { Interruption } from "./signals.ts";
import { type Command, DONE, FAILED, interrupted, UsageError } from "./usage.ts";

/** Formats the closing table: a row for each type of file, with the bytes before and after for each format, and the total time. */
export function formatTable(report: PrecompressReport): string {
  const formats = Object.keys(extensions) as (keyof typeof extensions)[];
  const used = formats.filter((format) => report.types.some(({ variants }) => variants[format] !== undefined));
  const timed = report.types.some(({ elapsedMs }) => elapsedMs > 0);
  const total: TypeSummary = {
    type: "total",
    files: sum(report.types.map(({ files }) => files)),
    bytes: sum(report.types.map(({ bytes }) => bytes)),
    variants: Object.fromEntries(
      used.map((format) => [format, sum(report.types.map(({ variants }) => variants[format] ?? 0))]),
    ),
    elapsedMs: sum(report.types.map(({ elapsedMs }) => elapsedMs)),
  };
  const row = ({ type, files, bytes, variants, elapsedMs }: TypeSummary) => [
    type,
    String(files),
    formatBytes(bytes),
    ...used.map((format) => variants[format] === undefined ? "-" : formatBytes(variants[format])),
    ...timed ? [elapsedMs > 0 ? formatDuration(elapsedMs) : "-"] : [],
  ];
  const rows = [["type", "files", "before", ...used, ...timed ? ["time"] : []], ...report.types.map(row)];
  if (report.types.length > 1) rows.push(row(total));
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, column) => column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)).join("  ");
  return rows.map(line).join("\n");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Folders that build tools write to, the most common first. */
const BUILDS = ["dist", "build", "out", "public"];

/** Returns the sign that `directory` is a project's root folder, if any. Builds for servers have a `package.json`, too. */
export function projectSign(directory: string): string | undefined {
  const folder = resolve(lastingPath(directory));
  if (dirname(folder) === folder) return "it is the root of a disk";
  if (isDirectory(join(folder, "node_modules"))) return "it has node_modules in it";
  const hasSources = existsSync(join(folder, "package.json")) && isDirectory(join(folder, "src"));
  return hasSources ? "it has package.json and src in it" : undefined;
}

/** Returns the path of the build in a project's folder, if one of the common names exists. */
export function buildIn(directory: string): string | undefined {
  return BUILDS.filter((name) => isDirectory(join(lastingPath(directory), name))).map((name) =>
    join(directory, name)
  )[0];
}

/** `millrace precompress DIR`: a thin shell over `precompress()`. */
export const precompressCommand: Command = {
  help: precompressHelp,
  async run(words) {
    const parsed = await precompressArguments(words);
    if (typeof parsed === "string") return parsed;
    await requireFolders(parsed);
    return parsed.action === "clean" ? await clean(parsed) : await compress(parsed);
  },
};

async function clean({ directory, json, quiet, options }: PrecompressArguments): Promise<number> {
  const { followLinks = false } = options;
  const { removed, problems } = await cleanPrecompressed(options.out ?? directory, { followLinks });
  if (json) process.stdout.write(`${JSON.stringify({ removed, problems }, null, 2)}\n`);
  else if (!quiet) process.stdout.write(`removed ${counted(removed.length, "file")}\n`);
  if (!json) tellProblems(problems);
  return problems.length > 0 ? FAILED : DONE;
}

function tellProblems(problems: readonly Problem[]): void {
  for (const { path, message } of problems) process.stderr.write(`millrace: ${printable(`${path}: ${message}`)}\n`);
}

/** The minimum time of source maps that is reported, in ms of one thread. */
const MIN_REPORTED_TIME = 5000;

/** Reports that source maps took the most time, if that was long: visitors do not load them. */
function tellAboutSourceMaps({ types }: PrecompressReport): void {
  const { elapsedMs = 0 } = types.find(({ type }) => type === "source maps") ?? {};
  const all = sum(types.map((each) => each.elapsedMs));
  if (elapsedMs < MIN_REPORTED_TIME || elapsedMs < all / 2) return;
  const told = `source maps took ${formatDuration(elapsedMs)} of ${formatDuration(all)}, and visitors do not load them`;
  process.stderr.write(`millrace: ${told}: --exclude "**/*.map" leaves them out\n`);
}

/** Reports failures of a cache; the variants exist nevertheless. */
function tellAboutCache({ refused, problem }: Partial<CacheReport> = {}): void {
  const isOne = refused === 1;
  if (refused) {
    const told = `${counted(refused, "entry", "entries")} of the cache ${isOne ? "was" : "were"} not what ${
      isOne ? "it" : "they"
    } should be, and ${isOne ? "was" : "were"} made anew`;
    process.stderr.write(`millrace: ${told}\n`);
  }
  if (problem !== undefined) process.stderr.write(`millrace: the cache is of no use: ${printable(problem)}\n`);
}

async function compress(given: PrecompressArguments): Promise<number> {
  const { directory, action, json, quiet, reports, options } = given;
  requireBuild(directory, options);
  await requireReportPlaces(reports, [directory, ...options.out === undefined ? [] : [options.out]]);
  const interruption = new Interruption();
  const showsProgress = process.stderr.isTTY && !json && !quiet;
  try {
    const run = await detailedRun(directory, {
      ...options,
      dryRun: action !== "precompress",
      signal: interruption.signal,
      ...(showsProgress && { onProgress: showProgress }),
    });
    if (showsProgress) clearLine();
    await writeReports(reports, run);
    return tell(run.report, given);
  } catch (error) {
    if (showsProgress) clearLine();
    const { by } = interruption;
    if (!by) throw error;
    process.stderr.write(`millrace: stopped by ${by}; what was finished is kept\n`);
    return interrupted[by];
  } finally {
    interruption.end();
  }
}

/** Refuses a project's root folder, which is hardly what is deployed, and whose packages take minutes to compress. */
function requireBuild(directory: string, { include, exclude }: PrecompressArguments["options"]): void {
  const sign = include || exclude ? undefined : projectSign(directory);
  if (sign === undefined) return;
  const build = buildIn(directory);
  const name = build === undefined ? "name the folder that is deployed, such as dist" : `name its build, ${build}`;
  const hint = `${name}, or say what to compress, as in --include "**/*.html"`;
  throw new UsageError(`${directory} seems to be no build (${sign}): ${hint}`);
}

/** Prints the report and returns the exit status. */
function tell(whole: PrecompressReport, { action, json, quiet, options: { previous } }: PrecompressArguments): number {
  // Without the previous deploy, deltas are not checked.
  const isChecked = (path: string): boolean => previous !== undefined || !/\.dc[bz]$/.test(path);
  const report = action === "check" ? { ...whole, removed: whole.removed.filter(isChecked) } : whole;
  const stale = action === "check" ? outputsOf(report).length : 0;
  if (json) {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else if (!quiet) {
    process.stdout.write(summary(report, action));
  }
  if (!json) {
    tellProblems(report.problems);
    for (const warning of report.warnings) process.stderr.write(`millrace: ${printable(warning)}\n`);
    if (!quiet) tellAboutSourceMaps(report);
    tellAboutCache(report.cache);
    if (stale > 0) {
      process.stderr.write(
        `millrace: ${counted(stale, "file")} to compress, copy or remove: run millrace precompress\n`,
      );
    }
  }
  return report.problems.length > 0 || stale > 0 ? FAILED : DONE;
}

function summary(report: PrecompressReport, action: PrecompressArguments["action"]): string {
  const isRun = action === "precompress";
  const parts = [
    `${report.compressed.length} ${isRun ? "compressed" : "to compress"}`,
    `${report.unchanged} unchanged`,
    `${report.skipped} left alone`,
  ];
  if (report.copied.length > 0) parts.push(`${report.copied.length} ${isRun ? "copied" : "to copy"}`);
  if (report.removed.length > 0) parts.push(`${report.removed.length} ${isRun ? "removed" : "to remove"}`);
  if (report.found.length > 0) {
    const names = report.found.slice(0, 3).map(printable).join(", ") + (report.found.length > 3 ? ", …" : "");
    parts.push(`${counted(report.found.length, "variant")} of others (${names})`);
  }
  if (report.dotfiles > 0) parts.push(`${counted(report.dotfiles, "dotfile")} skipped`);
  if (report.problems.length > 0) parts.push(counted(report.problems.length, "problem"));
  const { cache, siteDictionary } = report;
  const sought = cache ? cache.taken + cache.made : 0;
  if (sought > 0) parts.push(`${cache!.taken} of ${counted(sought, "variant")} from the cache`);
  if (siteDictionary) parts.push(`a site dictionary of ${formatBytes(siteDictionary.size)}`);
  const table = report.types.length > 0 ? `${formatTable(report)}\n` : "";
  const list = isRun ? "" : outputsOf(report).map((path) => `${printable(path)}\n`).join("");
  return `${list}${table}${counted(report.files, "file")}: ${parts.join(", ")}, in ${
    formatDuration(report.elapsedMs)
  }\n`;
}

/** Returns the files that a run would change, as paths below the folder. */
function outputsOf({ compressed, copied, removed }: PrecompressReport): string[] {
  return [...new Set([...compressed, ...copied, ...removed])].sort();
}

function showProgress({ bytesDone, bytesTotal, fraction, remainingMs }: PrecompressProgress): void {
  const remaining = remainingMs === undefined ? "" : `, ${formatDuration(remainingMs)} to go`;
  const text = `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}, ${Math.floor(fraction * 100)}%${remaining}`;
  process.stderr.write(`\r\x1b[K${text}`);
}

function clearLine(): void {
  process.stderr.write("\r\x1b[K");
}
