import assert from "node:assert/strict";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { compressSync, ready } from "../../lib/codecs/mod.ts";
import { nativeGzip } from "../../lib/runtime/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { runtime } from "../support/runtime.ts";

const inputs = [new Uint8Array(0), Uint8Array.of(1, 2, 3), sourceText(1000, 1), sourceText(40_000, 2)];

test("the runtime's own gzip is taken where it is faster: for the same bytes on Bun, for no more than 5% more on Deno", async () => {
  await ready(["gzip"], "compress");
  for (let level = 1; level <= 12; level++) {
    for (const input of inputs) {
      const own = nativeGzip(input, level);
      const ours = compressSync(input, { format: "gzip", level });
      const isTaken = runtime === "bun" || (runtime === "deno" && level <= 9);
      assert.equal(own !== undefined, isTaken, `level ${level}`);
      if (own === undefined) continue;
      assert.deepEqual(new Uint8Array(gunzipSync(own)), input);
      if (runtime === "bun") assert.deepEqual(own, ours, `level ${level}, ${input.length} bytes`);
      else if (level >= 6) assert.ok(own.length <= ours.length * 1.05 + 20, `${own.length} bytes, ours ${ours.length}`);
    }
  }
});
