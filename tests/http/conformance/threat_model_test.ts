import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../../support/runtime.ts";

test("every test that the threat model names is there", () => {
  const page = readFileSync(join(root, "lib/http/threat_model.md"), "utf8");
  const named = new Set(page.match(/tests\/[\w/]+\.ts/g));
  assert.ok(named.size > 20, `only ${named.size}`);
  assert.deepEqual([...named].filter((path) => !existsSync(join(root, path))), []);
});
