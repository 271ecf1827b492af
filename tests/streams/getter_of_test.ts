import assert from "node:assert/strict";
import test from "node:test";
import { getterOf } from "../../lib/streams/language/host.ts";

test("a getter that the runtime is too old to have is named, and versions that have it", () => {
  assert.throws(() => getterOf(ArrayBuffer.prototype, "attached"), {
    name: "TypeError",
    message: "@millrace/streams needs ArrayBuffer.prototype.attached: Node 22.18, Deno 2.4, Bun 1.2.23 or newer",
  });
});
