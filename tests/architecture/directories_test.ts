import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../support/runtime.ts";

const RECURSIVE = /\bmkdir(?:Sync)?\([^;]*\brecursive\b.*/g;

test("directories are made by makeDirectory(): Node's recursive way hides why one cannot be, and never ends below /proc", () => {
  const found: string[] = [];
  for (const path of globSync("lib/**/*.ts", { cwd: root }).sort()) {
    for (const [call] of readFileSync(join(root, path), "utf8").matchAll(RECURSIVE)) found.push(`${path}: ${call}`);
  }
  assert.deepEqual(found, []);
});
