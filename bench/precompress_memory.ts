/**
 * The peak memory of `millrace precompress` over many files and over one large file.
 *
 *   npm run bench -- precompress_memory
 *
 * Levels are low: memory does not depend on the number of bytes a level saves, and the top levels take minutes here.
 */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCorpus } from "./corpus.ts";
import { runMeasured } from "./measured_process.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const MEBIBYTE = 2 ** 20;
const LEVELS = ["--level-brotli", "2", "--level-zstd", "3", "--level-gzip", "3"];
const source = Buffer.concat(readCorpus().map(({ bytes }) => bytes));
const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));

/** Files of equal size, each cut out of the corpus at another place. */
function manyFiles(count: number, bytes: number): string {
  const site = join(folder, `${count}-files`);
  const size = Math.floor(bytes / count);
  for (let i = 0; i < count; i++) {
    if (i % 100 === 0) mkdirSync(join(site, `part-${i / 100}`), { recursive: true });
    const start = (i * 9973) % (source.length - size);
    const bytes = source.subarray(start, start + size);
    writeFileSync(join(site, `part-${Math.floor(i / 100)}`, `script-${i}.js`), bytes);
  }
  return site;
}

function oneFile(bytes: number): string {
  const site = join(folder, "one-file");
  mkdirSync(site);
  const file = openSync(join(site, "large.json"), "w");
  for (let written = 0; written < bytes; written += source.length) {
    writeSync(file, source, 0, Math.min(source.length, bytes - written));
  }
  closeSync(file);
  return site;
}

try {
  const sites: [string, () => string][] = [
    ["500 files, 30 MiB", () => manyFiles(500, 30 * MEBIBYTE)],
    ["5,000 files, 300 MiB", () => manyFiles(5000, 300 * MEBIBYTE)],
    ["1 file, 200 MiB", () => oneFile(200 * MEBIBYTE)],
  ];
  const rows: string[][] = [];
  for (const [label, make] of sites) {
    const site = make();
    const { seconds, peakMemory } = await runMeasured("lib/cli/cli.ts", [
      "precompress",
      site,
      "--quiet",
      ...LEVELS,
    ]);
    rows.push([label, `${peakMemory.toFixed(0)} MiB`, `${seconds.toFixed(1)} s`]);
    rmSync(site, { recursive: true });
  }
  writeSection(
    `precompress, memory: ${runtimeName().split(" ")[0]}`,
    `${circumstances()}. Brotli 2, zstd 3, gzip 3.\n\n${table(["", "peak memory", "wall time"], rows)}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
