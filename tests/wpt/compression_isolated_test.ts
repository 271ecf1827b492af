import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../support/runtime.ts";
import { failures, totals } from "./result.ts";
import { runCompression } from "./run_suite.ts";
import { getCompression } from "./suite.ts";

const root = await getCompression();

/** The minimum number of subtests, less those excluded: the pinned commit has some without brotli. */
const LEAST = 240;

test("our compression streams pass the web platform tests", {
  skip: root === undefined && "those of compression are not here: get them with `node tests/wpt/get.ts`",
  timeout: 60_000,
}, async () => {
  const result = await runCompression(root!, runtime, "ours");
  assert.deepEqual(failures([result]), []);
  const { passed } = totals([result]);
  assert.ok(passed >= LEAST, `only ${passed} subtests ran`);
});
