import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { inFolder, writeTree } from "../support/folders.ts";
import { root, runtime } from "../support/runtime.ts";

/** Files with faults that a runtime does not report, or not with the file's name, and the expected closing lines. */
const faults = {
  node: [{
    code: `import process from "node:process";\nimport test from "node:test";
test("ends its process", () => process["exit"](0));\ntest("would not be missed", () => {});`,
    told: /^ends its process \(.*fault_0_test\.ts:3\)$/,
  }, {
    code: `import test from "node:test";
test("leaves a rejection", () => void setTimeout(() => Promise.reject(new Error("late")), 20));
test("waits", () => new Promise((resolve) => setTimeout(resolve, 200)));`,
    told: /^tests\/fault_1_test\.ts/,
  }],
  deno: [{
    code: 'import test from "node:test";\ntest("passes before", () => {});\nthrow new Error("while it loads");',
    told: /^tests\/fault_0_test\.ts did not load$/,
  }, {
    code: `import test, { describe } from "node:test";
describe("the suite", () => void test("leaves a rejection", async () => {
  void Promise.reject(new Error("left"));
  await new Promise((resolve) => setTimeout(resolve, 20));
}));`,
    told: /^the suite > leaves a rejection \(.*left\)$/,
  }],
};

for (const name of ["node", "deno"] as const) {
  test(`a fault of a file that shares its process on ${name} is told by its test or its file, and fails no other`, {
    skip: runtime !== "node" && "it runs the runtimes, whichever runs it",
  }, () =>
    inFolder(async (folder) => {
      for (const path of [".ci", "package.json"]) cpSync(join(root, path), join(folder, path), { recursive: true });
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      const passing = Array.from({ length: 6 }, (_, i) => [`tests/passing_${i}_test.ts`, passes(i)]);
      const failing = faults[name].map(({ code }, i) => [`tests/fault_${i}_test.ts`, code]);
      await writeTree(folder, Object.fromEntries([...passing, ...failing]));
      const { NODE_TEST_CONTEXT: _, ...env } = process.env; // with it, it would report to the runner of this test
      const { stdout } = spawnSync(process.execPath, [".ci/test.ts", name], { cwd: folder, env, encoding: "utf8" });
      const failed = [...stdout.matchAll(/^\w+ failed: (.*)$/gm)].map(([, line]) => line);
      assert.equal(failed.length, faults[name].length, failed.join("\n"));
      for (const [i, { told }] of faults[name].entries()) assert.match(failed.sort()[i], told);
      assert.doesNotMatch(stdout, /passed alone/);
      for (const [i] of passing.entries()) assert.match(stdout, new RegExp(`passes ${i}\\b`));
    }));
}

function passes(i: number): string {
  return `import test from "node:test";\ntest("passes ${i}", () => {});\n`;
}
