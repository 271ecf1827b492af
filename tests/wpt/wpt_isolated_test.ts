import assert from "node:assert/strict";
import test from "node:test";
import { noChromium } from "../e2e/chromium.ts";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import type { Mode } from "./mode.ts";
import { failures, totals } from "./result.ts";
import { runSuite, type Runtime } from "./run_suite.ts";
import { findSuite, getSuite, hasScript } from "./suite.ts";

const root = hasScript() ? await getSuite() : findSuite();
const options = {
  skip: root === undefined && "the web platform tests are not here: get them with `node tests/wpt/get.ts`",
  timeout: 300_000,
};

/** The minimum number of subtests of the suite, less those excluded: idlharness alone has 226, text streams have 114. */
const least = { "ours": 1_427, "native-pipe-to": 486 };

test("our streams pass the web platform tests", {
  ...options,
  skip: options.skip || (!isLong && runtime === "deno" && "its engine is that of Node, which has them run"),
}, () => passes("ours"));

test(
  "native streams pass the web platform tests when our pipeTo() and pipeThrough() do the piping",
  options,
  () => passes("native-pipe-to"),
);

test(
  "our streams, as bundlers get them, pass the web platform tests in Chromium",
  {
    ...options,
    skip: options.skip || noChromium || (runtime !== "node" && "what runs is the browser, under Node only"),
  },
  () => passes("ours", "chromium"),
);

async function passes(mode: keyof typeof least & Mode, on: Runtime = runtime): Promise<void> {
  const results = await runSuite(root!, { runtime: on, mode, isShared: !isLong });
  const failed = failures(results);
  assert.equal(failed.length, 0, [`${failed.length} failed:`, ...failed.slice(0, 30)].join("\n"));
  const { passed } = totals(results);
  assert.ok(passed >= least[mode], `only ${passed} subtests ran`);
}
