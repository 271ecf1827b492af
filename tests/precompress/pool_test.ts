import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { budgetOf, memoryOf, nextOf, Pool, workersFor } from "../../lib/precompress/pool.ts";
import { inFolder } from "../support/folders.ts";
import { isLong } from "../support/long_run.ts";
import { randomNumbers } from "../support/random_numbers.ts";

/** Jobs, their bytes in all, and the workers that they are worth. */
const cases: readonly (readonly [number, number, number])[] = [
  [1, 10_000, 1],
  [9, 30_000, 1],
  [9, 300_000, 3],
  [2, 300_000_000, 2],
  [100_000, 300_000_000, 2289],
];

test("a further worker is started only for so much work that it does a part while others would be at the rest", () => {
  for (const [jobs, bytes, workers] of cases) assert.equal(workersFor(jobs, bytes), workers, `${jobs} of ${bytes}`);
});

test("as many jobs run at once as there is memory for", async () => {
  const jobs = isLong ? 16 : 6; // each starts a worker
  const sizes = Array.from({ length: jobs }, (_, i) => Math.round(400_000 + 2_600_000 * i / (jobs - 1)));
  for (const [memory, expected] of [[0, 1], [budgetOf(0), 3], [budgetOf(4 * 2 ** 30), jobs]] as const) {
    await inFolder(async (folder) => {
      const pool = new Pool(jobs, memory);
      pool.prepare(jobs, Infinity);
      const runs = sizes.map((size, i) =>
        pool.run({
          ...{ path: `${i}.js`, source: join(folder, `${i}.js`), temporary: join(folder, `${i}.tmp`), size },
          ...{ format: "brotli", level: 11, sha256: "", mtimeMs: 0, mode: 0o600, limit: size },
        }, () => {})
      );
      const files = await readdir(folder); // a job's file is made when it starts
      await Promise.all([Promise.allSettled(runs), pool.stop(new Error("enough"))]);
      assert.equal(files.length, expected);
    });
  }
});

/** The memory that jobs took at their peak, in MiB, as measured in a process without another one. */
const measured = [
  ["gzip", 1, 1, 3],
  ["gzip", 12, 1, 12],
  ["gzip", 12, 4, 15],
  ["gzip", 12, 16, 55],
  ["zstd", 1, 4, 10],
  ["zstd", 9, 4, 16],
  ["zstd", 15, 4, 70],
  ["zstd", 19, 1 / 16, 2],
  ["zstd", 19, 4, 55],
  ["brotli", 5, 1 / 16, 3],
  ["brotli", 5, 4, 34],
  ["brotli", 5, 16, 124],
  ["brotli", 9, 4, 59],
  ["brotli", 9, 16, 131],
  ["brotli", 11, 1 / 16, 10],
  ["brotli", 11, 1 / 4, 21],
  ["brotli", 11, 1, 42],
  ["brotli", 11, 4, 72],
] as const;

test("a job is said to need what was measured by format, level and size, and not twice that", () => {
  const thread = 27;
  for (const [format, level, size, taken] of measured) {
    const said = memoryOf({ format, level, size: size * 2 ** 20 }) / 2 ** 20;
    const words = `${format} ${level} of ${size} MiB: ${said}`;
    assert.ok(said >= thread + taken && said <= thread + 2 * taken + 2 * size + 6, words);
  }
});

/** Returns the time of jobs that workers take in the order of the pool, with that much memory. */
function wallOf(jobs: readonly SimulatedJob[], workers: number, memory: number): number {
  const waiting = [...jobs];
  const running: { readonly job: SimulatedJob; readonly end: number }[] = [];
  let now = 0;
  while (waiting.length + running.length > 0) {
    const used = running.reduce((sum, { job }) => sum + memoryOf(job), 0);
    const next = running.length < workers ? nextOf(waiting, used === 0 ? Infinity : memory - used) : -1;
    if (next >= 0) {
      const [job] = waiting.splice(next, 1);
      running.push({ job, end: now + job.ms });
    } else {
      const first = running.reduce((a, b) => b.end < a.end ? b : a);
      now = first.end;
      running.splice(running.indexOf(first), 1);
    }
  }
  return now;
}

interface SimulatedJob {
  readonly format: "brotli" | "zstd" | "gzip";
  readonly level: number;
  readonly size: number;
  readonly ms: number;
}

/** The levels, and the time for a byte in ns as measured on one processor, by format. */
const LEVELS = { brotli: 11, zstd: 19, gzip: 12 } as const;
const SPEED = { brotli: 1900, zstd: 520, gzip: 330 } as const;

test("16 workers with 4 GiB take no more than a twelfth of the time of one", () => {
  const random = randomNumbers(7);
  const jobs = Array.from({ length: 600 }, (): SimulatedJob[] => {
    const size = Math.round(1024 * 3000 ** (random(1000) / 1000)); // most are small, some have 3 MB
    return (["brotli", "zstd", "gzip"] as const).map((format) => {
      return { format, level: LEVELS[format], size, ms: size * SPEED[format] * (0.6 + random(100) / 125) / 1e6 };
    });
  }).flat();
  const ratio = wallOf(jobs, 1, Infinity) / wallOf(jobs, 16, budgetOf(4 * 2 ** 30));
  assert.ok(ratio >= 12, `${ratio}`);
});
