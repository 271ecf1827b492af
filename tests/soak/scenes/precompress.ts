import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cleanPrecompressed, precompress } from "../../../lib/precompress/mod.ts";
import { sourceText } from "../../support/bytes.ts";
import type { Scene } from "../scene.ts";

export const precompressing: Scene = {
  name: "precompress",
  what: "a small site compressed in two workers, again with one file changed, stopped in the middle, and cleaned",
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-soak-"));
    for (let i = 0; i < 12; i++) await writeFile(join(folder, `app-${i}.js`), sourceText(4000, i));
    const options = { jobs: 2, levels: { brotli: 5, zstd: 5, gzip: 5 } };
    return {
      async round(index): Promise<void> {
        await precompress(folder, options);
        await writeFile(join(folder, `app-${index % 12}.js`), sourceText(4000, index + 100));
        await precompress(folder, options);
        const variants = (await readdir(folder)).filter((name) => /\.(br|gz|zst)$/.test(name));
        assert.equal(variants.length, 36);
        await cleanPrecompressed(folder);
      },
      close: () => rm(folder, { recursive: true }),
    };
  },
};
