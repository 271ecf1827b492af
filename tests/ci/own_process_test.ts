import assert from "node:assert/strict";
import test from "node:test";
import { reasonForOwnProcess } from "../../.ci/own_process.ts";
import { inFolder, writeTree } from "../support/folders.ts";

const HEAD = 'import test, { before } from "node:test";\n';

/** Sources of tests that change, watch or measure their process, and a word of the reason. */
const alone: readonly (readonly [string, RegExp])[] = [
  ["before(() => {});", /hooks/],
  ["const folder = await mkdtemp(place);", /while it loads/],
  ["const root = isThere() ? await find() : undefined;", /while it loads/],
  ["const { a,\n  b } = await import(name);", /while it loads/],
  ['process.on("unhandledRejection", note);', /events/],
  ['test("moves", () => process.chdir("/"));', /changes its process/],
  ['process.env.NO_PROXY = "*";', /environment/],
  ["for (const name of names) delete process.env[name];", /environment/],
  ["globalThis.fetch = ours;", /globals/],
  ['Object.defineProperty(globalThis, "fetch", { value: ours });', /globals/],
  ['await import("../../lib/streams/install.ts");', /while it loads/],
  ['test("a", () => import("../../lib/streams/install.ts"));', /globals/],
  ["t.mock.timers.enable();", /replaces/],
  ["performance.now = () => 42;", /replaces/],
  ["const { rss } = process.memoryUsage();", /measures/],
  ['readdirSync("/proc/self/fd");', /measures/],
  ['import { collectGarbage } from "../support/garbage.ts";', /garbage/],
];

test("a test file that changes, watches or measures its process has one of its own, and the reason is told", () =>
  inFolder(async (folder) => {
    for (const [i, [code, reason]] of alone.entries()) {
      await writeTree(folder, { [`tests/${i}_test.ts`]: `${HEAD}${code}\n` });
      assert.match(reasonForOwnProcess(folder, `tests/${i}_test.ts`) ?? "none", reason, code);
    }
  }));

test("so has one that imports a module that does, however far away, and none that starts it as a process", () =>
  inFolder(async (folder) => {
    await writeTree(folder, {
      "tests/one/imports_test.ts": `${HEAD}import { scene } from "../two/scene.ts";\n`,
      "tests/two/scene.ts": 'import { watch } from "./watch.ts";\n',
      "tests/two/watch.ts": 'process.on("warning", note);\n',
      "tests/one/starts_test.ts": `${HEAD}const child = new URL("../two/watch.ts", import.meta.url);\n`,
    });
    assert.match(reasonForOwnProcess(folder, "tests/one/imports_test.ts") ?? "none", /events/);
    assert.equal(reasonForOwnProcess(folder, "tests/one/starts_test.ts"), undefined);
  }));

test("so have those that start browsers and whole servers", () => {
  assert.match(reasonForOwnProcess("", "tests/e2e/chromium_test.ts") ?? "none", /browsers/);
});

test("others share a process, also those that read it, await in their tests or speak of it in comments", () =>
  inFolder(async (folder) => {
    const code = `// process.chdir() is for others
const read = async () => {
  const text = await load();
};
test("reads", async () => {
  assert.equal(await read(process.env.HOME), globalThis.origin);
});
`;
    await writeTree(folder, { "tests/one/a_test.ts": HEAD + code });
    assert.equal(reasonForOwnProcess(folder, "tests/one/a_test.ts"), undefined);
  }));
