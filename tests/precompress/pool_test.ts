import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { Pool, workersFor } from "../../lib/precompress/pool.ts";
import { inFolder } from "../support/folders.ts";

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

test("as many jobs run at once as the machine has memory for", async () => {
  for (const [memory, expected] of [[0, 2], [2 ** 31, 6]] as const) {
    await inFolder(async (folder) => {
      const size = 400_000;
      const pool = new Pool(6, memory);
      pool.prepare(6, 6 * size);
      const runs = Array.from({ length: 6 }, (_, i) =>
        pool.run({
          ...{ path: `${i}.js`, source: join(folder, `${i}.js`), temporary: join(folder, `${i}.tmp`), size },
          ...{ format: "brotli", level: 11, sha256: "", mtimeMs: 0, mode: 0o600, limit: size },
        }, () => {}));
      const files = await readdir(folder); // a job's file is made when it starts
      await Promise.all([Promise.allSettled(runs), pool.stop(new Error("enough"))]);
      assert.equal(files.length, expected);
    });
  }
});
