import process from "node:process";
import {
  type CacheReport,
  cleanPrecompressed,
  type PrecompressProgress,
  type PrecompressReport,
  type Problem,
} from "../precompress/mod.ts";
import { detailedRun } from "../precompress/internal.ts";
import { counted, formatBytes, formatDuration } from "../quantities/mod.ts";
import { printable } from "../static/internal.ts";
import type { Command } from "./command.ts";
import { DONE, FAILED, interrupted } from "./exit_status.ts";
import { Interruption } from "./signals.ts";
import {
  type PrecompressArguments,
  precompressArguments,
  precompressHelp,
  requireFolders,
} from "./precompress_arguments.ts";
import { formatTable } from "./precompress_table.ts";
import { buildIn, projectSign } from "./project_folder.ts";
import { UsageError } from "./usage.ts";
import { requireReportPlaces, writeReports } from "./reports.ts";

/** `millrace precompress DIR`: a thin shell over `precompress()`. */
export const precompressCommand: Command = {
  help: precompressHelp,
  async run(words) {
    const parsed = await precompressArguments(words);
    if (typeof parsed === "string") return parsed;
    requireFolders(parsed);
    return parsed.action === "clean" ? await clean(parsed) : await compress(parsed);
  },
};

function print(text: string): number {
  process.stdout.write(text);
  return DONE;
}

async function clean({ directory, json, quiet, options }: PrecompressArguments): Promise<number> {
  const { followLinks = false } = options;
  const { removed, problems } = await cleanPrecompressed(options.out ?? directory, { followLinks });
  if (json) print(`${JSON.stringify({ removed, problems }, null, 2)}\n`);
  else if (!quiet) print(`removed ${counted(removed.length, "file")}\n`);
  if (!json) tellProblems(problems);
  return problems.length > 0 ? FAILED : DONE;
}

function tellProblems(problems: readonly Problem[]): void {
  for (const { path, message } of problems) process.stderr.write(`millrace: ${printable(`${path}: ${message}`)}\n`);
}

/** Says what a cache did not do: the variants are there all the same. */
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

async function compress({ directory, action, json, quiet, reports, options }: PrecompressArguments): Promise<number> {
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
    return tell(run.report, action, json, quiet);
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

/** A project's own folder is hardly what is deployed, and compressing its packages takes minutes. */
function requireBuild(directory: string, { include, exclude }: PrecompressArguments["options"]): void {
  const sign = include || exclude ? undefined : projectSign(directory);
  if (sign === undefined) return;
  const build = buildIn(directory);
  const name = build === undefined ? "name the folder that is deployed, such as dist" : `name its build, ${build}`;
  const wayOut = `${name}, or say what to compress, as in --include '**/*.html'`;
  throw new UsageError(`${directory} seems to be a project's own folder (${sign}): ${wayOut}`);
}

/** Prints what was done and returns the exit status. */
function tell(
  report: PrecompressReport,
  action: PrecompressArguments["action"],
  json: boolean,
  quiet: boolean,
): number {
  const stale = action === "check" && outputsOf(report).length > 0;
  if (json) {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else if (!quiet) {
    process.stdout.write(summary(report, action));
  }
  if (!json) {
    tellProblems(report.problems);
    tellAboutCache(report.cache);
    if (stale) process.stderr.write(`millrace: ${staleFiles(report)}: run millrace precompress\n`);
  }
  return report.problems.length > 0 || stale ? FAILED : DONE;
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
  if (report.found.length > 0) parts.push(`${counted(report.found.length, "variant")} of others`);
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

/** The files that a run would do something about; paths below the folder. */
function outputsOf({ compressed, copied, removed }: PrecompressReport): string[] {
  return [...new Set([...compressed, ...copied, ...removed])].sort();
}

function staleFiles(report: PrecompressReport): string {
  return `${counted(outputsOf(report).length, "file has", "files have")} missing or stale outputs`;
}

function showProgress({ bytesDone, bytesTotal, fraction, remainingMs }: PrecompressProgress): void {
  const remaining = remainingMs === undefined ? "" : `, ${formatDuration(remainingMs)} to go`;
  const text = `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}, ${Math.floor(fraction * 100)}%${remaining}`;
  process.stderr.write(`\r\x1b[K${text}`);
}

function clearLine(): void {
  process.stderr.write("\r\x1b[K");
}
