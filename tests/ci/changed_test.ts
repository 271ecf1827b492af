import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { changedFiles, readGraph, testsOf } from "../../.ci/changed.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { runtime } from "../support/runtime.ts";

const skip = runtime !== "node" && "it runs git, whichever runs it";

const tree = {
  "lib/a/mod.ts": `export { a } from "./a.ts";`,
  "lib/a/a.ts": "export const a = 1;",
  "lib/b/mod.ts": `import { a } from "../a/mod.ts";`,
  "lib/c/mod.ts": "export {};",
  "tests/a/other_test.ts": "",
  "tests/b/b_test.ts": `import "../../lib/b/mod.ts";`,
  "tests/b/child_test.ts": `new URL("./child.ts", import.meta.url);`,
  "tests/b/child.ts": `import "../../lib/b/mod.ts";`,
  "tests/c/c_test.ts": `import "../../lib/c/mod.ts";\nimport "../support/waits.ts";`,
  "tests/e2e/e2e_test.ts": `import "../../lib/b/mod.ts";`,
  "tests/support/waits.ts": "",
};

test(
  "testsOf() picks the tests beside a change and all that import it, but for those of the whole",
  { skip },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, tree);
      const graph = readGraph(folder);
      const tests = Object.keys(tree).filter((path) => path.endsWith("_test.ts"));
      const cases: [string, string[]][] = [
        ["lib/a/a.ts", ["tests/a/other_test.ts", "tests/b/b_test.ts", "tests/b/child_test.ts"]],
        ["lib/b/mod.ts", ["tests/b/b_test.ts", "tests/b/child_test.ts"]],
        ["lib/c/mod.ts", ["tests/c/c_test.ts"]],
        ["tests/support/waits.ts", ["tests/c/c_test.ts"]],
        ["tests/e2e/e2e_test.ts", ["tests/e2e/e2e_test.ts"]],
        ["README.md", []],
      ];
      for (const [changed, expected] of cases) assert.deepEqual(testsOf([changed], tests, graph), expected, changed);
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
