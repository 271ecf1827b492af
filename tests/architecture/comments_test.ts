import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../support/runtime.ts";

/** Doc comments that do not name their subject: a class is a noun, a function a verb (see CONTRIBUTING.md). */
const NAMELESS = /\/\*\*[\s*]*(?:What|Who|Where|Those|One|Some)\b.*/g;

test("doc comments name their subject first", () => {
  const nameless: string[] = [];
  for (const path of globSync(["mod.ts", "lib/**/*.ts"], { cwd: root }).sort()) {
    const text = readFileSync(join(root, path), "utf8");
    for (const { index, 0: comment } of text.matchAll(NAMELESS)) {
      nameless.push(`${path}:${text.slice(0, index).split("\n").length}: ${comment}`);
    }
  }
  assert.deepEqual(nameless, []);
});
