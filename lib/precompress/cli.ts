#!/usr/bin/env node
/**
 * The command `millrace precompress DIR`, on every runtime: a thin shell over {@linkcode precompress}.
 *
 * @module
 */
import process from "node:process";
import { type Arguments, help, parseArguments, UsageError } from "./arguments.ts";
import { cleanPrecompressed } from "./clean.ts";
import type { PrecompressProgress } from "./options.ts";
import { precompress } from "./precompress.ts";
import { explain } from "./problem.ts";
import type { PrecompressReport } from "./report.ts";
import { formatBytes, formatDuration, formatTable } from "./table.ts";
import { version } from "./version.ts";

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Exit statuses by signal, as shells give them. */
const signals = { SIGINT: 130, SIGTERM: 143 } as const;

process.exitCode = await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<number> {
  try {
    const parsed = parseArguments(words);
    if (parsed === "help") return print(help);
    if (parsed === "version") return print(`millrace ${version}\n`);
    return parsed.action === "clean" ? await clean(parsed) : await compress(parsed);
  } catch (error) {
    process.stderr.write(`millrace: ${explain(error)}\n`);
    if (error instanceof UsageError) process.stderr.write("see millrace --help\n");
    return error instanceof UsageError ? WRONG_USAGE : FAILED;
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return DONE;
}

async function clean({ directory, json, quiet, options }: Arguments): Promise<number> {
  const removed = await cleanPrecompressed(options.out ?? directory);
  if (json) return print(`${JSON.stringify({ removed }, null, 2)}\n`);
  return quiet ? DONE : print(`removed ${removed.length} ${removed.length === 1 ? "file" : "files"}\n`);
}

async function compress({ directory, action, json, quiet, options }: Arguments): Promise<number> {
  const interruption = new AbortController();
  let signalled: keyof typeof signals | undefined;
  for (const signal of Object.keys(signals) as (keyof typeof signals)[]) {
    process.once(signal, () => { // a second one ends the process at once
      signalled = signal;
      interruption.abort(new Error(`stopped by ${signal}`));
    });
  }
  const showsProgress = process.stderr.isTTY && !json && !quiet;
  try {
    const report = await precompress(directory, {
      ...options,
      dryRun: action !== "precompress",
      signal: interruption.signal,
      ...(showsProgress && { onProgress: showProgress }),
    });
    if (showsProgress) clearLine();
    return tell(report, action, json, quiet);
  } catch (error) {
    if (showsProgress) clearLine();
    if (!signalled) throw error;
    process.stderr.write(`millrace: stopped by ${signalled}; what was finished is kept\n`);
    return signals[signalled];
  }
}

/** Prints what was done and returns the exit status. */
function tell(report: PrecompressReport, action: Arguments["action"], json: boolean, quiet: boolean): number {
  const stale = action === "check" && outputsOf(report).length > 0;
  if (json) {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else if (!quiet) {
    process.stdout.write(summary(report, action));
  }
  if (!json) {
    for (const { path, message } of report.problems) process.stderr.write(`millrace: ${path}: ${message}\n`);
    if (stale) process.stderr.write(`millrace: ${staleFiles(report)}: run millrace precompress\n`);
  }
  return report.problems.length > 0 || stale ? FAILED : DONE;
}

function summary(report: PrecompressReport, action: Arguments["action"]): string {
  const isRun = action === "precompress";
  const parts = [
    `${report.compressed.length} ${isRun ? "compressed" : "to compress"}`,
    `${report.unchanged} unchanged`,
    `${report.skipped} left alone`,
  ];
  if (report.copied.length > 0) parts.push(`${report.copied.length} ${isRun ? "copied" : "to copy"}`);
  if (report.removed.length > 0) parts.push(`${report.removed.length} ${isRun ? "removed" : "to remove"}`);
  if (report.problems.length > 0) {
    parts.push(`${report.problems.length} ${report.problems.length === 1 ? "problem" : "problems"}`);
  }
  const table = report.types.length > 0 ? `${formatTable(report)}\n` : "";
  const list = isRun ? "" : outputsOf(report).map((path) => `${path}\n`).join("");
  const files = `${report.files} ${report.files === 1 ? "file" : "files"}`;
  return `${list}${table}${files}: ${parts.join(", ")}, in ${formatDuration(report.elapsedMs)}\n`;
}

/** The files that a run would do something about; paths below the folder. */
function outputsOf({ compressed, copied, removed }: PrecompressReport): string[] {
  return [...new Set([...compressed, ...copied, ...removed])].sort();
}

function staleFiles(report: PrecompressReport): string {
  const count = outputsOf(report).length;
  return `${count} ${count === 1 ? "file has" : "files have"} missing or stale outputs`;
}

function showProgress({ bytesDone, bytesTotal, fraction, remainingMs }: PrecompressProgress): void {
  const remaining = remainingMs === undefined ? "" : `, ${formatDuration(remainingMs)} to go`;
  const text = `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}, ${Math.floor(fraction * 100)}%${remaining}`;
  process.stderr.write(`\r\x1b[K${text}`);
}

function clearLine(): void {
  process.stderr.write("\r\x1b[K");
}
