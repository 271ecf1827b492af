import assert from "node:assert/strict";
import { overlapping } from "../../support/overlapping.ts";
import { runtime } from "../../support/runtime.ts";
import { differences } from "./cells.ts";
import { groupsOf, platformGroups } from "./groups.ts";
import { known } from "./known.ts";
import { readables, readableStates } from "./readables.ts";
import { bunPlaces, nodeModules, transformNodePlaces, writableNodePlaces } from "./server_places.ts";
import { transforms, transformStates } from "./transforms.ts";
import { writables, writableStates } from "./writables.ts";

const groups = [
  ...platformGroups,
  ...groupsOf("readable streams", readables, readableStates, { ...nodeModules, ...runtime === "bun" && bunPlaces }),
  ...groupsOf("writable streams", writables, writableStates, writableNodePlaces),
  ...groupsOf("transform streams", transforms, transformStates, transformNodePlaces),
];
const met = new Set<string>();
const test = overlapping(3);

for (const { name, cells } of groups) {
  test(name, async () => {
    const { unknown, reasons } = await differences(cells, known, runtime);
    assert.deepEqual(unknown, {});
    for (const reason of reasons) met.add(reason);
  });
}

test("all differences that are known were met, in many thousand cells", () => {
  const stale = known.filter(({ on, reason }) => on.includes(runtime) && !met.has(reason));
  assert.deepEqual(stale.map(({ reason }) => reason), []);
  assert.ok(groups.reduce((sum, { cells }) => sum + cells.length, 0) >= 10_000);
});
