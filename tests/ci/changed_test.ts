import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { changedFiles, quickTests, readGraph, testsOf } from "../../.ci/changed.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { root, runtime } from "../support/runtime.ts";

const skip = runtime !== "node" && "it runs git, whichever runs it";

const tree = {
  ".ci/a.ts": "",
  "lib/a/mod.ts": `export { a } from "./a.ts";`,
  "lib/a/a.ts": "export const a = 1;",
  "lib/a/README.md": "",
  "lib/b/mod.ts": `import { a } from "../a/mod.ts";`,
  "lib/c/mod.ts": `import { b } from "../b/mod.ts";`,
  "tests/a/faults/a_test.ts": `import "../../../lib/a/mod.ts";\nimport "../scene.ts";`,
  "tests/a/other_test.ts": "",
  "tests/a/scene.ts": `import "../support/waits.ts";`,
  "tests/architecture/architecture_test.ts": "",
  "tests/b/b_test.ts": `import "../../lib/b/mod.ts";`,
  "tests/b/child_test.ts": `new URL("./child.ts", import.meta.url);`,
  "tests/b/child.ts": `import "../../lib/b/mod.ts";`,
  "tests/b/quick_test.ts": `import "../../lib/b/mod.ts";\nimport "../support/waits.ts";`,
  "tests/c/c_test.ts": `import "../../lib/c/mod.ts";\nimport "../support/waits.ts";`,
  "tests/c/quick_test.ts": "",
  "tests/ci/ci_test.ts": "",
  "tests/e2e/e2e_test.ts": `import "../../lib/b/mod.ts";`,
  "tests/support/waits.ts": "",
};

const [library, quickB, quickC] = ["architecture/architecture", "b/quick", "c/quick"];

test(
  "testsOf() picks the tests beside a change, quick ones of the folders that import it, and long ones that changed",
  { skip },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, tree);
      const graph = readGraph(folder);
      const tests = Object.keys(tree).filter((path) => path.endsWith("_test.ts"));
      const quick = [quickB, quickC].map((name) => `tests/${name}_test.ts`);
      const cases: [string, string[]][] = [
        ["lib/a/a.ts", ["a/other", library, quickB]],
        ["lib/b/mod.ts", [library, "b/b", "b/child", quickB, quickC]],
        ["lib/c/mod.ts", [library, "c/c", quickC]],
        ["tests/a/scene.ts", ["a/faults/a"]],
        ["tests/b/child.ts", ["b/child"]],
        ["tests/support/waits.ts", [quickB]],
        ["tests/e2e/e2e_test.ts", ["e2e/e2e"]],
        [".ci/a.ts", ["ci/ci"]],
        ["lib/a/README.md", []],
      ];
      for (const [changed, expected] of cases) {
        const picked = testsOf([changed], tests, graph, quick);
        assert.deepEqual(picked, expected.map((name) => `tests/${name}_test.ts`), changed);
      }
    }),
);

test(
  "changedFiles() has what differs from a commit: changed, removed, new and renamed",
  { skip },
  () =>
    inFolder(async (folder) => {
      const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, encoding: "utf8" }).trim();
      const who = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
      git("init", "--quiet", "--initial-branch=main");
      await writeTree(folder, {
        ".gitignore": "ignored\n",
        kept: "1",
        changed: "1",
        removed: "1",
        moved: "1".repeat(99),
      });
      git("add", ".");
      git(...who, "commit", "--quiet", "-m", "first");
      git("checkout", "--quiet", "-b", "work");
      git("mv", "moved", "there");
      git(...who, "commit", "--quiet", "-m", "second");
      await writeTree(folder, { changed: "2", added: "1", ignored: "1" });
      await rm(join(folder, "removed"));
      await writeFile(join(folder, "kept"), "1");
      assert.deepEqual(changedFiles(folder), ["added", "changed", "moved", "removed", "there"]);
      assert.deepEqual(changedFiles(folder, "HEAD"), ["added", "changed", "removed"]);
    }),
);

test("the tests that stand for their folders are there", { skip }, () => {
  for (const name of quickTests) assert.ok(existsSync(join(root, name)), name);
});
