import assert from "node:assert/strict";
import test from "node:test";
import { workersFor } from "../../lib/precompress/pool.ts";

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
