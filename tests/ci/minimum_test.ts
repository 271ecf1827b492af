import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { chosen } from "../../.ci/minimum/chosen.ts";
import { knownFailures } from "../../.ci/minimum/known_failures.ts";
import { root } from "../architecture/module_graph.ts";

const read = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

test("the oldest versions that are tested are those that the manifest promises", () => {
  const { dependencies } = read(".ci/minimum/package.json");
  for (const [runtime, range] of Object.entries<string>(read("package.json").engines)) {
    const [major, minor, patch = "0"] = range.replace(">=", "").split(".");
    assert.equal(`${major}.${minor}.${patch}`, dependencies[runtime], runtime);
  }
});

test("what runs on the oldest versions is there, and what is known to fail on them runs", () => {
  assert.deepEqual(chosen.filter((file) => !existsSync(join(root, file))), []);
  assert.deepEqual(knownFailures.filter(({ file }) => !chosen.includes(file)), []);
});
