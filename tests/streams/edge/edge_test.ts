import assert from "node:assert/strict";
import process from "node:process";
import { isPlain } from "../../../lib/streams/language/host.ts";
import { ReadableStream } from "../../../lib/streams/mod.ts";
import { readableStreamStateOf } from "../../../lib/streams/native/feeds/readable_feed.ts";
import { isLong } from "../../support/long_run.ts";
import { overlapping } from "../../support/overlapping.ts";
import { runtime } from "../../support/runtime.ts";
import { allGroups } from "./all_groups.ts";
import { type Cell, differences } from "./cells.ts";
import type { Group } from "./groups.ts";
import { known } from "./known.ts";

const met = new Set<string>();
const test = overlapping(3);

/** The share of the cells of a group that a run has: one of so many. */
const shareOf = (isRare: boolean): number => isLong ? 1 : isPlain ? 16 : isRare ? 8 : 4;

/** Node and Deno, of one engine, have other cells; Node has those of known differences, too. */
function chosenOf({ cells, isRare }: Group): Cell[] {
  const share = shareOf(isRare);
  const first = runtime === "node" ? 0 : share >> 1;
  const isKnown = ({ name }: Cell): boolean =>
    runtime === "node" && !isPlain && known.some(({ on, cells }) => on.includes(runtime) && cells.test(name));
  return cells.filter((cell, i) => i % share === first || isKnown(cell));
}

for (const group of allGroups) {
  test(group.name, async () => {
    const { unknown, reasons } = await differences(chosenOf(group), known, runtime);
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
  if (isLong || runtime === "node" && !isPlain) assert.deepEqual(stale.map(({ reason }) => reason), []);
  assert.ok(allGroups.reduce((sum, { cells }) => sum + cells.length, 0) >= 10_000);
});
