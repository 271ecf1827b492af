import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../support/runtime.ts";

/** The limits of `lib` without the codecs' modules: its files, their lines, and the files with `SHORT` lines or fewer. */
const MOST = { files: 475, lines: 68_500, shortFiles: 60 };
const SHORT = 60;

test("lib has few files, of which few are short: faces, twins of runtimes, entries that are named elsewhere", () => {
  const paths = globSync("lib/**/*.ts", { cwd: root }).filter((path) => !/[/\\]wasm[/\\]/.test(path));
  const lengths = paths.map((path) => readFileSync(join(root, path), "utf8").split("\n").length - 1);
  const found: typeof MOST = {
    files: paths.length,
    lines: lengths.reduce((sum, length) => sum + length, 0),
    shortFiles: lengths.filter((length) => length <= SHORT).length,
  };
  for (const [what, most] of Object.entries(MOST)) {
    const count = found[what as keyof typeof MOST];
    assert.ok(count <= most, `${count} ${what}, ${most} are allowed: give a helper a home beside its user`);
  }
});
