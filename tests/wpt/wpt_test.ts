import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../e2e/consumer.ts";
import type { Mode } from "./mode.ts";
import { failures, totals } from "./result.ts";
import { runSuite } from "./run_suite.ts";
import { findSuite, getSuite, hasScript } from "./suite.ts";

const root = hasScript() ? await getSuite() : findSuite();
const options = {
  skip: root === undefined && "the web platform tests are not here: get them with `node tests/wpt/get.ts`",
  timeout: 300_000,
};

/** How many subtests the suite has at least, less those excluded: idlharness alone has 226. */
const least = { "ours": 1_314, "native-pipe-to": 1_101 };

test("our streams pass the web platform tests", options, () => passes("ours"));

test(
  "native streams pass the web platform tests when our pipeTo() and pipeThrough() do the piping",
  options,
  () => passes("native-pipe-to"),
);

async function passes(mode: keyof typeof least & Mode): Promise<void> {
  const results = await runSuite(root!, { runtime, mode });
  const failed = failures(results);
  assert.equal(failed.length, 0, [`${failed.length} failed:`, ...failed.slice(0, 30)].join("\n"));
  const { passed } = totals(results);
  assert.ok(passed >= least[mode], `only ${passed} subtests ran`);
}
