import assert from "node:assert/strict";
import test from "node:test";
import { isLong } from "../../support/long_run.ts";
import { runtime } from "../../support/runtime.ts";
import { differences } from "./cells.ts";
import { allGroups } from "./all_groups.ts";
import { known } from "./known.ts";
import "../../../lib/streams/install.ts"; // once the runtime's own classes have been taken

test("with ours installed, the runtime does with them what it does with its own", async () => {
  const cells = allGroups.flatMap(({ cells }) => cells).filter((_, index) => isLong || index % 13 === 0);
  for (let from = 0; from < cells.length; from += 700) {
    const { unknown } = await differences(cells.slice(from, from + 700), known, runtime);
    assert.deepEqual(unknown, {});
  }
  assert.ok(cells.length >= 1_200, `${cells.length} cells`);
});
