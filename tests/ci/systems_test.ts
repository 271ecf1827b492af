import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { chosen, knownFailures, long } from "../../.ci/systems/chosen.ts";
import { root } from "../support/runtime.ts";

test("what runs on other systems is there, each once, and so is what is known to fail under Wine", () => {
  const files = [...chosen, ...long];
  assert.deepEqual([...new Set(files)], files);
  assert.deepEqual(
    [...files, ...knownFailures.map(({ file }) => file)].filter((file) => !existsSync(join(root, file))),
    [],
  );
});
