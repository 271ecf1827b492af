import assert from "node:assert/strict";
import { globSync } from "node:fs";
import test from "node:test";
import { root } from "../support/runtime.ts";
import { costly } from "../../.ci/test_costs.ts";
import { rows, runtimesOf } from "../../.ci/test_runtimes.ts";

const files = globSync("tests/**/*_test.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/"));

test("each row of the table of runtimes is for a test that there is, and changes where it runs", () => {
  for (const [prefix, runtimes] of rows) {
    const below = files.filter((file) => file.startsWith(`tests/${prefix}`));
    assert.ok(below.some((file) => runtimesOf(file) === runtimes), prefix);
  }
});

test("runtimesOf() takes the longest row, and all runtimes where there is none", () => {
  assert.deepEqual(runtimesOf("tests/names/any_test.ts"), ["node"]);
  assert.deepEqual(runtimesOf("tests/e2e/http_peers_isolated_test.ts"), ["node", "bun", "deno"]);
  assert.deepEqual(runtimesOf("tests/timers/any_test.ts"), ["node", "bun", "deno"]);
});

test("the files that are known to take long are there", () => {
  assert.deepEqual(costly.filter((file) => !files.includes(file)), []);
});
