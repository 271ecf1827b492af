import assert from "node:assert/strict";
import test from "node:test";
import { compressSync, ready } from "../../lib/codecs/mod.ts";
import { gzipWhole } from "../../lib/compression/encoding.ts";
import { sourceText } from "../support/bytes.ts";

test("gzip with the runtime's checksum is what compressSync() gives, at every level and for any view", async () => {
  await ready(["gzip"], "compress");
  const text = sourceText(40_000, 7);
  for (const input of [text.subarray(0, 0), text.subarray(1, 2), text.subarray(300, 2000), text]) {
    for (let level = 1; level <= 12; level++) {
      const whole = gzipWhole(input, level);
      assert.deepEqual(whole, compressSync(input, { format: "gzip", level }), `level ${level}, ${input.length} bytes`);
    }
  }
});
