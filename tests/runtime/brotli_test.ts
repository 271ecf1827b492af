import assert from "node:assert/strict";
import test from "node:test";
import { compressSync, decompressSync, ready } from "../../lib/codecs/mod.ts";
import { nativeBrotli } from "../../lib/runtime/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { runtime } from "../support/runtime.ts";

const inputs = [new Uint8Array(0), Uint8Array.of(1, 2, 3), sourceText(1000, 1), sourceText(40_000, 2)];

test("the runtime's own brotli is taken where it is faster: on Bun, for as many bytes", async () => {
  await ready(["brotli"]);
  for (const level of [0, 1, 3, 4, 5, 9, 11]) {
    for (const input of inputs) {
      const own = nativeBrotli(input, level, 18);
      assert.equal(own !== undefined, runtime === "bun", `level ${level}`);
      if (own === undefined) continue;
      assert.deepEqual(decompressSync(own, { format: "brotli" }), input);
      const { length } = compressSync(input, { format: "brotli", level, windowLog: 18 });
      assert.ok(own.length <= length * 1.02 + 20, `${own.length} bytes, ours ${length}, level ${level}`);
    }
  }
});
