/**
 * `millrace precompress` over a whole folder beside the usual way, all files at once through the asynchronous
 * `node:zlib`: wall time of the whole process, bytes, peak memory; then again with nothing changed, and with one file
 * changed.
 *
 *   npm run bench -- precompress [--rounds 3]
 */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { readCorpus, totalBytes } from "./corpus.ts";
import { type Measured, runMeasured } from "./measured_process.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "3" } } });
const corpus = readCorpus();
const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
const original = join(folder, "original");
const CHANGED = "vue/dist/vue.global.prod.js";

function makeSite(): void {
  for (const { path, bytes } of corpus) {
    mkdirSync(join(original, dirname(path)), { recursive: true });
    writeFileSync(join(original, path), bytes);
  }
}

function freshSite(): string {
  const site = join(folder, "site");
  rmSync(site, { recursive: true, force: true });
  cpSync(original, site, { recursive: true });
  return site;
}

function ours(site: string): Promise<Measured> {
  return runMeasured("lib/cli/cli.ts", ["precompress", site, "--quiet"]);
}

function native(site: string): Promise<Measured> {
  return runMeasured("bench/native_precompress.ts", [site]);
}

/**
 * Returns the variants in a folder: their paths with the time of their last change, which is new if they are rewritten.
 */
function variants(site: string): Map<string, { bytes: number; changed: number }> {
  const paths = readdirSync(site, { recursive: true, encoding: "utf8" }).filter((path) => /\.(br|gz|zst)$/.test(path));
  return new Map(paths.map((path) => {
    const { size, ctimeMs } = statSync(join(site, path));
    return [path, { bytes: size, changed: ctimeMs }];
  }));
}

function bytesOf(site: string): number {
  return [...variants(site).values()].reduce((sum, { bytes }) => sum + bytes, 0);
}

function best(runs: readonly Measured[]): Measured {
  return runs.reduce((fastest, run) => (run.seconds < fastest.seconds ? run : fastest));
}

interface Runs {
  readonly native: Measured[];
  readonly first: Measured[];
  readonly unchanged: Measured[];
  readonly oneChanged: Measured[];
}

async function measure(
  rounds: number,
): Promise<{ runs: Runs; bytes: { native: number; ours: number }; redone: string[] }> {
  const runs: Runs = { native: [], first: [], unchanged: [], oneChanged: [] };
  const bytes = { native: 0, ours: 0 };
  let redone: string[] = [];
  for (let round = 0; round < rounds; round++) {
    let site = freshSite();
    runs.native.push(await native(site));
    bytes.native = bytesOf(site);
    site = freshSite();
    runs.first.push(await ours(site));
    bytes.ours = bytesOf(site);
    runs.unchanged.push(await ours(site));
    const before = variants(site);
    appendFileSync(join(site, CHANGED), "\n/* changed */\n");
    runs.oneChanged.push(await ours(site));
    redone = [...variants(site)].filter(([path, { changed }]) => before.get(path)?.changed !== changed)
      .map(([path]) => path);
  }
  return { runs, bytes, redone };
}

function row(label: string, runs: readonly Measured[], baseline: Measured, bytes?: number): string[] {
  const { seconds, peakMemory } = best(runs);
  return [
    label,
    `${seconds.toFixed(2)} s`,
    (seconds / baseline.seconds).toFixed(3),
    bytes?.toLocaleString("en") ?? "",
    `${peakMemory.toFixed(0)} MiB`,
  ];
}

try {
  makeSite();
  const { runs, bytes, redone } = await measure(Number(values.rounds));
  const baseline = best(runs.native);
  const rows = [
    row("node:zlib, all files at once (brotli 11, zstd 19, gzip 9)", runs.native, baseline, bytes.native),
    row("ours, first run (brotli 11, zstd 19, gzip 12)", runs.first, baseline, bytes.ours),
    row("ours, nothing changed", runs.unchanged, baseline),
    row("ours, one file changed", runs.oneChanged, baseline),
  ];
  writeSection(
    `precompress: ${runtimeName().split(" ")[0]}`,
    `${circumstances()}. ${corpus.length} files, ${
      totalBytes(corpus).toLocaleString("en")
    } bytes; whole processes, best ` +
      `of ${values.rounds} rounds taken in turns. With ${CHANGED} changed, redone: ${redone.join(", ")}.\n\n${
        table(["", "wall time", "to node:zlib", "bytes of variants", "peak memory"], rows)
      }`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
