import assert from "node:assert/strict";
import test from "node:test";
import { mangledNames } from "../../.ci/mangled_names.ts";
import { runtime } from "../support/runtime.ts";

test("the build shortens all names that only our own streams know, and no other", {
  skip: runtime !== "node" && "it is the same on all runtimes",
}, async () => {
  const { internalNames } = await import("./internal_names.ts");
  assert.deepEqual(mangledNames, internalNames());
});
