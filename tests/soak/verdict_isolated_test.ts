import assert from "node:assert/strict";
import test from "node:test";
import type { Sample } from "./process_state.ts";
import { faultsOf, growthOf } from "./verdict.ts";

const steady: Sample = { rounds: 1, rss: 100, heap: 20, files: 30, resources: 5 };
const samplesOf = (count: number, change: (index: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: count }, (_, index) => ({ ...steady, ...change(index) }));

test("a process that holds what it held is well, whatever comes and goes between", () => {
  const samples = samplesOf(40, (index) => ({ rss: 100 + (index % 5) * 60, heap: 20 + (index % 3) * 10 }));
  assert.deepEqual(faultsOf({ samples, unhandled: [] }), []);
});

for (const kind of ["rss", "heap", "files", "resources"] as const) {
  test(`${kind} that grow with every round are a fault`, () => {
    const samples = samplesOf(40, (index) => ({ [kind]: steady[kind] + index * 5 }));
    assert.deepEqual(faultsOf({ samples, unhandled: [] }), [
      `${kind} grew from ${steady[kind] + 50} to ${steady[kind] + 150}`,
    ]);
  });
}

test("a few rounds tell nothing of growth", () => {
  assert.equal(growthOf(samplesOf(7, (index) => ({ rss: index * 1000 })), "rss"), undefined);
});

test("rejections that nobody handled, and an early end, are faults of their own", () => {
  const faults = faultsOf({ samples: [], unhandled: ["Error: lost", "Error: again"], error: "round 3 failed" });
  assert.deepEqual(faults, ["round 3 failed", "2 unhandled rejections, the first: Error: lost"]);
});
