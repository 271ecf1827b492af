import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { root } from "../../support/runtime.ts";

/** Returns the files of `tests/` that a page names. */
function namedBy(page: string): string[] {
  return [...new Set(readFileSync(join(root, page), "utf8").match(/tests\/[\w/]+\.ts/g))];
}

test("every test that the threat model and the page of evidence name is there", () => {
  const [threats, evidence] = ["lib/http/threat_model.md", "lib/http/evidence.md"].map(namedBy);
  assert.ok(threats.length > 20 && evidence.length > 8, `only ${threats.length} and ${evidence.length}`);
  assert.deepEqual([...threats, ...evidence].filter((path) => !existsSync(join(root, path))), []);
});
