import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../support/runtime.ts";

/** Beginnings of comments that do not name their subject: a class is a noun, a function a verb (see CONTRIBUTING.md). */
const NAMELESS = /^(?:What|Who|Where|Those|One|Some)\b/;

/** Doc comments before an export, with what they say. */
const EXPORTED = /\/\*\*\s*(?:\n \* )?((?:(?!\*\/)[\s\S])*?)\*\/\nexport\b/g;

test("comments of exported symbols name their subject first", () => {
  const nameless: string[] = [];
  for (const path of globSync(["mod.ts", "lib/**/*.ts"], { cwd: root }).sort()) {
    const text = readFileSync(join(root, path), "utf8");
    for (const { index, 1: comment } of text.matchAll(EXPORTED)) {
      if (NAMELESS.test(comment)) {
        nameless.push(`${path}:${text.slice(0, index).split("\n").length}: ${comment.trim()}`);
      }
    }
  }
  assert.deepEqual(nameless, []);
});
