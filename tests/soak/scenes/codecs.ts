import assert from "node:assert/strict";
import { compress, CompressionStream, decompress, DecompressionStream, formats } from "../../../lib/codecs/mod.ts";
import { collected, streamOf } from "../../support/streams.ts";
import { noise, sourceText } from "../../support/bytes.ts";
import type { Scene } from "../scene.ts";

const dictionary = sourceText(3000, 7);
const bytes = sourceText(60_000);

async function session(index: number): Promise<void> {
  const format = formats[index % formats.length];
  const options = format === "dcb" || format === "dcz" ? { dictionary } : {};
  const encoder = new CompressionStream(format, { ...options, level: 5, flush: index % 2 === 0 });
  const small = streamOf([bytes.subarray(0, 30_000), bytes.subarray(30_000)]).pipeThrough(encoder);
  const kind = index % 6;
  if (kind === 0) {
    const reader = small.getReader();
    await reader.read();
    return await reader.cancel("enough");
  }
  if (kind === 1) return void small.getReader().read().catch(() => {}); // and drops its last reference
  if (kind === 2) {
    const bad = streamOf([noise(5000, index)]).pipeThrough(
      new DecompressionStream(format, { ...options, maxSize: 1e6 }),
    );
    return void await collected(bad).catch((error) =>
      assert.ok(error instanceof TypeError || error instanceof RangeError)
    );
  }
  assert.equal((await collected(small.pipeThrough(new DecompressionStream(format, options)))).length, bytes.length);
}

export const codecs: Scene = {
  name: "codecs",
  what: "42 sessions of every format side by side: read, cancelled, dropped, fed with noise; and whole ones, bombs too",
  open: async () => {
    const bomb = await compress(new Uint8Array(20_000_000), { format: "zstd", level: 3 });
    return {
      async round(): Promise<void> {
        await Promise.all(Array.from({ length: 42 }, (_, i) => session(i)));
        for (const format of ["zstd", "brotli", "gzip"] as const) {
          const small = await compress(bytes, { format, level: 4 });
          assert.equal((await decompress(small, { format })).length, bytes.length);
        }
        await assert.rejects(decompress(bomb, { format: "zstd", maxSize: 1_000_000 }), RangeError);
      },
      close: () => Promise.resolve(),
    };
  },
};
