/**
 * Tests of other projects that pass with the runtime's own streams also pass with ours as the globals, except those
 * named in `suites/suites.ts`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import test from "node:test";
import { runtime } from "../support/runtime.ts";
import { lost } from "./suites/cases.ts";
import { type Suite, suites } from "./suites/suites.ts";

/** Returns the reason why a suite cannot run; false if it can. */
function unable(suite: Suite): string | false {
  if (runtime !== suite.runtime) return `they are tests for ${suite.runtime}`;
  const folder = process.env[suite.variable];
  if (!folder) return `${suite.variable} names no checkout`;
  if (!existsSync(join(folder, suite.mark))) return `${folder} has no ${suite.mark}`;
  if (suite.runtime === "deno" && !process.env.DENO_STD_ROOT) return "DENO_STD_ROOT names no checkout of denoland/std";
  return false;
}

for (const suite of suites) {
  test(`${suite.name} pass with ours`, { skip: unable(suite), timeout: 1_800_000 }, async () => {
    const folder = resolve(process.env[suite.variable]!);
    const native = await suite.run(folder, false);
    const installed = await suite.run(folder, true);
    const passed = [...native.values()].filter(Boolean).length;
    assert.ok(passed > 10, `only ${passed} tests pass with the runtime's own streams`);
    const gone = lost(native, installed);
    console.log(`${suite.name}: ${passed} of ${native.size} pass, ${passed - gone.length} of those with ours`);
    assert.deepEqual(gone.filter((name) => !suite.differences.some(({ test }) => test.test(name))), []);
  });
}
