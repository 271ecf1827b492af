import assert from "node:assert/strict";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { compressSync, ready } from "../../lib/codecs/mod.ts";
import { nativeGzip } from "../../lib/runtime/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { runtime } from "../support/runtime.ts";

const small = [new Uint8Array(0), Uint8Array.of(1, 2, 3), sourceText(1000, 1), sourceText(20_000, 2)];

test("the runtime's own gzip is taken for what is short on Bun and Deno, for no more than 5% more bytes", async () => {
  await ready(["gzip"], "compress");
  for (let level = 1; level <= 12; level++) {
    assert.equal(nativeGzip(sourceText(24 * 1024), level), undefined, `level ${level}`);
    for (const input of small) {
      const own = nativeGzip(input, level);
      const ours = compressSync(input, { format: "gzip", level });
      const isTaken = runtime === "bun" || (runtime === "deno" && level <= 9);
      assert.equal(own !== undefined, isTaken, `level ${level}`);
      if (own === undefined) continue;
      assert.deepEqual(new Uint8Array(gunzipSync(own)), input);
      if (runtime === "deno" && level < 6) continue;
      assert.ok(own.length <= ours.length * 1.05 + 20, `${own.length} bytes, ours ${ours.length}`);
    }
  }
});
