import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { precompress } from "../../lib/precompress/mod.ts";
import { serve } from "../../lib/runtime/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { noChromium, openBrowser } from "./chromium.ts";

const SIZE = 60_000;
const FILES = 12;

/** Returns the ranges that a page fetches of file `i`, in order; undefined is the whole file. */
function fetchesOf(i: number): (string | undefined)[] {
  const tail = [`bytes=${100 * i}-${100 * i + 49}`, "bytes=0-29", `bytes=${SIZE - 50}-`];
  const middle = tail.slice(0, i % 4);
  return [i % 3 === 0 ? undefined : "bytes=0-29", ...middle, undefined, tail[i % 3], undefined];
}

test("a page that has fetched parts of a file with variants gets all of it by a whole fetch", {
  skip: noChromium,
}, () =>
  inFolder(async (folder) => {
    const names = Array.from({ length: FILES }, (_, i) => `${i % 2 === 0 ? "app" : "lib"}-AAAAAA${10 + i}.js`);
    const files = Object.fromEntries(names.map((name, i) => [name, sourceText(SIZE, i)]));
    const site = join(folder, "site");
    await writeTree(site, { "index.html": `<!doctype html><link rel="icon" href="data:,">`, ...files });
    await precompress(site, { levels: { brotli: 4, zstd: 3, gzip: 6 } });
    // Half of the files are revalidated each time, and the others never.
    const handler = await createStaticHandler(site, { immutable: "app-*" });
    const server = await serve({ fetch: handler.fetch, node: handler.node, hostname: "127.0.0.1", port: 0 });
    const { page, close } = await openBrowser(join(folder, "profile"));
    try {
      await page.goto(server.url);
      for (const [i, name] of names.entries()) {
        const sizes = await page.evaluate(async ({ name, ranges }) => {
          const sizes: [status: number, bytes: number][] = [];
          for (const range of ranges) {
            const response = await fetch(name, range === undefined ? {} : { headers: { range } });
            sizes.push([response.status, (await response.arrayBuffer()).byteLength]);
          }
          return sizes;
        }, { name, ranges: fetchesOf(i) });
        for (const [status, bytes] of sizes) {
          if (status === 200) assert.equal(bytes, SIZE, `${name}: ${sizes.join(" ")}`);
        }
      }
    } finally {
      await close();
      await server.stop(0);
      await handler.close();
    }
  }));
