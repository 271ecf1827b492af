import assert from "node:assert/strict";
import { overlapping } from "../../support/overlapping.ts";
import { runtime } from "../../support/runtime.ts";
import { allGroups } from "./all_groups.ts";
import { differences } from "./cells.ts";
import { known } from "./known.ts";

const met = new Set<string>();
const test = overlapping(3);

for (const { name, cells } of allGroups) {
  test(name, async () => {
    const { unknown, reasons } = await differences(cells, known, runtime);
    assert.deepEqual(unknown, {});
    for (const reason of reasons) met.add(reason);
  });
}

test("all differences that are known were met, in many thousand cells", () => {
  const stale = known.filter(({ on, reason }) => on.includes(runtime) && !met.has(reason));
  assert.deepEqual(stale.map(({ reason }) => reason), []);
  assert.ok(allGroups.reduce((sum, { cells }) => sum + cells.length, 0) >= 10_000);
});
