import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { precompress } from "../../lib/precompress/mod.ts";
import { serve } from "../../lib/runtime/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { writeTree } from "../support/folders.ts";
import { noChromium, openBrowser } from "./chromium.ts";

/** Returns a script of 60 kB. */
function script(version: string): Uint8Array {
  return new TextEncoder().encode(
    `/* ${new TextDecoder().decode(sourceText(60_000))} */ globalThis.app = "${version}";`,
  );
}

/** Returns the `Available-Dictionary` field of a browser that has that version of the script. */
function dictionary(version: string): string {
  return `:${createHash("sha256").update(script(version)).digest("base64")}:`;
}

test("a file without a hash that may be stale for a while is a dictionary for its successor", {
  skip: noChromium,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-browser-"));
  const resources: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const [former, present] = [join(folder, "former"), join(folder, "present")];
    await writeTree(former, {
      "index.html": `<!doctype html><link rel="icon" href="data:,">`,
      "app.js": script("one"),
    });
    await cp(former, present, { recursive: true });
    await precompress(present);
    const handler = await createStaticHandler(present, {
      cacheControl: (path) => path === "app.js" ? "max-age=0, stale-while-revalidate=600" : undefined,
    });
    resources.unshift(handler.close);
    const server = await serve({ fetch: handler.fetch, node: handler.node, hostname: "127.0.0.1", port: 0 });
    resources.unshift(() => server.stop(0));
    const { page, takeExchanges, close } = await openBrowser(join(folder, "profile"));
    resources.unshift(close);
    await page.goto(server.url);
    /** Waits until the browser has kept the script as a dictionary, which it does a little after the page has got it. */
    const kept = async (version: string) => {
      const expected = dictionary(version);
      for (let tries = 0; tries < 100; tries++) {
        await takeExchanges();
        await page.evaluate(() => fetch("app.js", { method: "HEAD", cache: "no-store" }));
        if ((await takeExchanges()).get("/app.js")!.request["available-dictionary"] === expected) return;
        await page.waitForTimeout(50);
      }
      assert.fail(`the browser did not keep version ${version}`);
    };
    /** Requests the script like a browser whose cached copy must be revalidated. */
    const revalidate = async (version: string) => {
      await takeExchanges();
      const text = await page.evaluate(() => fetch("app.js", { cache: "no-cache" }).then((answer) => answer.text()));
      assert.ok(text.endsWith(`app = "${version}";`));
      const exchange = (await takeExchanges()).get("/app.js")!;
      await kept(version);
      return exchange;
    };

    assert.match((await revalidate("one")).response["content-encoding"], /^(br|zstd)$/);
    assert.equal((await revalidate("one")).status, 304);
    await writeTree(present, { "app.js": script("two") });
    await precompress(present, { previous: former });
    await handler.reload();
    const update = await revalidate("two");
    assert.equal(update.status, 200);
    assert.match(update.response["content-encoding"], /^dc[bz]$/);
    assert.ok(update.transferred < 0.2 * (await stat(join(present, "app.js.br"))).size);
    // By now the dictionary is the file itself: the tag is of a delta that the browser could not take any more.
    const again = await revalidate("two");
    assert.equal(again.request["available-dictionary"], dictionary("two"));
    assert.equal(again.request["if-none-match"], update.response.etag);
    assert.equal(again.status, 304);
  } finally {
    for (const release of resources) await release();
  }
});
