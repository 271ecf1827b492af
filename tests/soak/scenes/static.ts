import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStaticHandler } from "../../../lib/static/mod.ts";
import { noise, sourceText } from "../../support/bytes.ts";
import type { Scene } from "../scene.ts";

const ORIGIN = "http://site.example";

/** The requests of each round, and their expected answers. */
const asked: readonly (readonly [status: number, path: string, fields: Record<string, string>])[] = [
  [200, "/", {}],
  [200, "/app.js", { "accept-encoding": "gzip, br" }],
  [206, "/app.js", { range: "bytes=10-99, 200-" }],
  [206, "/large.bin", { range: "bytes=1000-200000" }],
  [200, "/large.bin", {}],
  [404, "/missing", {}],
  [416, "/app.js", { range: "bytes=99999999-" }],
  [304, "/app.js", { "if-none-match": "*" }],
];

export const staticFiles: Scene = {
  name: "static",
  what: "a tree that changes and is scanned anew, 160 requests, a third of whose bodies are cancelled",
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-soak-"));
    await writeFile(join(folder, "large.bin"), noise(400_000));
    await writeFile(join(folder, "index.html"), "<title>Mill</title>");
    for (let i = 0; i < 200; i++) await writeFile(join(folder, `page-${i}.html`), sourceText(2000, i));
    await writeFile(join(folder, "app.js"), sourceText(20_000));
    const handler = await createStaticHandler(folder, { previous: true });
    return {
      async round(index): Promise<void> {
        for (let i = 0; i < 160; i++) {
          const [status, path, headers] = asked[i % asked.length];
          const response = await handler.fetch(new Request(ORIGIN + path, { headers }));
          assert.equal(response.status, status, path);
          if (i % 3 === 0) await response.body?.cancel();
          else await response.arrayBuffer();
        }
        await writeFile(join(folder, `page-${index % 200}.html`), sourceText(2000, index));
        await writeFile(join(folder, "app.js"), sourceText(20_000, index));
        await handler.reload();
      },
      async close(): Promise<void> {
        await handler.close();
        await rm(folder, { recursive: true });
      },
    };
  },
};
