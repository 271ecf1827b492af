import assert from "node:assert/strict";
import process from "node:process";
import { isPlain } from "../../../lib/streams/language/host.ts";
import { ReadableStream } from "../../../lib/streams/mod.ts";
import { readableStreamStateOf } from "../../../lib/streams/native/feeds/readable_feed.ts";
import { isLong } from "../../support/long_run.ts";
import { overlapping } from "../../support/overlapping.ts";
import { runtime } from "../../support/runtime.ts";
import { allGroups } from "./all_groups.ts";
import { differences } from "./cells.ts";
import { known } from "./known.ts";

const met = new Set<string>();
const test = overlapping(3);

/** Returns the `n` for which every nth cell of a group runs. */
const partOf = (isRare: boolean): number => isLong ? 1 : isPlain ? 8 : isRare ? 4 : runtime === "node" ? 1 : 2;

for (const { name, cells, isRare } of allGroups) {
  test(name, async () => {
    const { unknown, reasons } = await differences(cells.filter((_, i) => i % partOf(isRare) === 0), known, runtime);
    assert.deepEqual(unknown, {});
    for (const reason of reasons) met.add(reason);
  });
}

test("MILLRACE_PLAIN=1 has streams made with their native side, as on Bun", () => {
  const isMade = readableStreamStateOf(new ReadableStream())!.nativeSide !== undefined;
  assert.equal(isMade, runtime === "bun" || process.env.MILLRACE_PLAIN === "1");
});

test("all differences that are known were met, in many thousand cells", () => {
  const stale = known.filter(({ on, plain, reason }) => on.includes(runtime) && !plain && !met.has(reason));
  if (partOf(false) === 1) assert.deepEqual(stale.map(({ reason }) => reason), []);
  assert.ok(allGroups.reduce((sum, { cells }) => sum + cells.length, 0) >= 10_000);
});
