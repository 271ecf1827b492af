import assert from "node:assert/strict";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { until } from "../support/waits.ts";

/** What a caller without types may pass. */
const wrong: readonly [options: object, message: RegExp][] = [
  [
    { memorylimit: 0 },
    // All there are.
    /^memorylimit is no option of createStaticHandler\(\): use index, cleanUrls, fallback, notFound, dotfiles, headers, cors, immutable, cacheControl, basePath, precompressed, dictionaries, memoryLimit, reprDigest, previous, watch, onWarning$/,
  ],
  [{ memoryLimit: "64M" }, /^memoryLimit 64M is out of range: use a number of bytes/],
  [{ memoryLimit: NaN }, /^memoryLimit NaN is out of range/],
  [{ precompressed: ["brotli"] }, /^unknown coding "brotli": use br, zstd, gzip$/],
  [{ precompressed: "br" }, /^precompressed br is no list/],
  [{ immutable: true }, /^immutable true is no pattern/],
  [{ immutable: ["assets/**"] }, /^immutable assets\/\*\* is no pattern/],
  [{ index: true }, /^index "true" is not a file name/],
  [{ index: "a/b.html" }, /^index "a\/b\.html" is not a file name/],
  [{ fallback: "../page.html" }, /^fallback "\.\.\/page\.html" is not a path below the folder/],
  [{ fallback: true }, /^fallback true is not what it should be: use a path below the folder, or a function$/],
  [{ fallback: "none.html" }, /^fallback "none\.html" is not among the files/],
  [{ basePath: "/a?b" }, /^basePath "\/a\?b" is not a path/],
  [{ cors: "*" }, /^cors \* is not what it should be: use true, a list of origins, or a function$/],
  [
    { cors: ["*"] },
    /^cors "\*" is not an origin as browsers send it: use one such as https:\/\/app\.example, or true for any$/,
  ],
  [{ cors: ["https://app.example/"] }, /^cors "https:\/\/app\.example\/" is not an origin as browsers send it/],
  [{ cors: ["https://App.example"] }, /^cors "https:\/\/App\.example" is not an origin as browsers send it/],
  [{ cors: ["https://app.example:443"] }, /^cors "https:\/\/app\.example:443" is not an origin as browsers send it/],
  [{ cors: ["app.example"] }, /^cors "app\.example" is not an origin as browsers send it/],
  [{ cors: [5] }, /^cors "5" is not an origin as browsers send it/],
  [{ cacheControl: 60 }, /^cacheControl gives 60, which is no value of a header field/],
  [{ cacheControl: "no-cache\r\nx: y" }, /^cacheControl gives "no-cache\\r\\nx: y", which is no value/],
  [{ cacheControl: () => "\u0001" }, /^cacheControl, for page\.html, gives "\\u0001", which is no value/],
  [{ headers: () => ({ x: "a\u0001" }) }, /^headers\(\) gives what is no header field for page\.html: "x" gives/],
  [{ headers: () => ({ x: "a\nb" }) }, /^headers\(\) gives what is no header field for page\.html/],
];

for (const [options, message] of wrong) {
  test(`createStaticHandler() refuses what it cannot use before it serves anything: ${message.source}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-options-"));
    try {
      await writeFile(join(folder, "page.html"), "<p>The mill turns.</p>");
      await assert.rejects(createStaticHandler(folder, options as StaticHandlerOptions), { message });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

for (const directory of [undefined, 5, null]) {
  test(`createStaticHandler() says that ${directory} is no folder`, async () => {
    const message = `cannot serve ${directory}: name the folder by its path`;
    await assert.rejects(createStaticHandler(directory as unknown as string), { name: "TypeError", message });
  });
}

test("an onWarning that throws fails neither the handler nor a response, and files are scanned again", () =>
  inFolder(async (folder) => {
    const former = "a".repeat(300_000);
    await writeTree(folder, { "page.html": "<p>", "large.txt": former });
    await symlink("/dev/null", join(folder, "outside.txt"));
    const { error } = console;
    const told: unknown[] = [];
    console.error = (...given) => void told.push(...given);
    let site: StaticHandler | undefined;
    try {
      site = await createStaticHandler(folder, {
        memoryLimit: 0,
        fallback: () => {
          throw new Error("no such page");
        },
        onWarning: ({ message }) => {
          throw new Error(`told that ${message}`);
        },
      });
      const { fetch } = site;
      const ask = async (path: string) => await fetch(new Request(`http://localhost${path}`));
      assert.equal((await ask("/none")).status, 500);
      await writeFile(join(folder, "large.txt"), former.slice(1));
      assert.equal((await ask("/large.txt")).status, 503);
      await until(async () => (await ask("/large.txt")).status === 200, "the file");
    } finally {
      console.error = error;
      await site?.close();
    }
    assert.match(told.join(), /this symbolic link is left out.*fallback\(\) failed.*is not what was scanned/);
  }));
