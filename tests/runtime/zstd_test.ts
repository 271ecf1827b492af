import assert from "node:assert/strict";
import test from "node:test";
import { compressSync, decompressSync, ready } from "../../lib/codecs/mod.ts";
import { nativeZstd } from "../../lib/runtime/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { runtime } from "../support/runtime.ts";

const inputs = [new Uint8Array(0), Uint8Array.of(1, 2, 3), sourceText(1000, 1), sourceText(40_000, 2)];

test("the runtime's own zstd is taken where it is faster, for as many bytes: on Bun, and on Deno for what is long", async () => {
  await ready(["zstd"]);
  for (const level of [1, 2, 3, 9, 19, 22]) {
    for (const input of inputs) {
      const own = nativeZstd(input, level);
      const isTaken = runtime === "bun" || runtime === "deno" && input.length > 24 * 1024;
      assert.equal(own !== undefined, isTaken, `level ${level}, ${input.length} bytes`);
      if (own === undefined) continue;
      assert.deepEqual(decompressSync(own, { format: "zstd", maxWindow: 2 ** 27 }), input);
      const { length } = compressSync(input, { format: "zstd", level });
      assert.ok(own.length <= length * 1.02 + 20, `${own.length} bytes, ours ${length}, level ${level}`);
    }
  }
});
