import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import test from "node:test";
import { bodies } from "../../bench/compression/bodies.ts";
import { compress } from "../../lib/codecs/mod.ts";
import { createCompression } from "../../lib/compression/mod.ts";
import { closeAll, protocols } from "../compression/served.ts";
import { inFolder } from "../support/folders.ts";
import { type Browser, type Exchange, noChromium, openBrowser } from "./chromium.ts";

const HEAD = `<!doctype html><link rel="icon" href="data:,"><title>goods</title>`;
const hashOf = (text: string): string => `:${createHash("sha256").update(text).digest("base64")}:`;

/** Waits until the browser names a dictionary for a path: it keeps one a little after it has got it. */
async function kept({ page, takeExchanges }: Browser, path: string, hash: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    await takeExchanges();
    await page.evaluate((path) => fetch(path, { method: "HEAD", cache: "no-store" }), path);
    if ((await takeExchanges()).get(path)?.request["available-dictionary"] === hash) return;
    await page.waitForTimeout(50);
  }
  assert.fail(`the browser did not keep a dictionary for ${path}`);
}

async function visit({ page, takeExchanges }: Browser, url: string): Promise<Exchange> {
  await takeExchanges();
  await page.goto(url);
  return (await takeExchanges()).get(new URL(url).pathname)!;
}

async function brotliSize(text: string): Promise<number> {
  return (await compress(new TextEncoder().encode(text), { format: "brotli" })).length;
}

test("a browser gets an edited page as its difference, and another page by the route's template", {
  skip: noChromium,
}, () =>
  inFolder(async (folder) => {
    const browser = await openBrowser(join(folder, "profile"));
    try {
      const template = HEAD + bodies["/page"].text;
      const compression = createCompression({ dictionaries: { routes: [{ path: "/goods/*", template }] } });
      await compression.ready();
      let text = template;
      let asked = "";
      const served = await protocols["http/1.1"]((req, res) => {
        compression.node(req, res, () => {
          asked += ` ${req.url}`;
          const isGoods = req.url!.startsWith("/goods/");
          res.setHeader("content-type", "text/html; charset=utf-8");
          res.setHeader("cache-control", isGoods ? "private" : "public, max-age=600");
          res.end(isGoods ? template.replaceAll("shop", req.url!) + req.url : text);
        });
      });
      const url = `http://127.0.0.1:${served.port}`;
      const first = await visit(browser, `${url}/page`);
      assert.equal(first.response["content-encoding"], "zstd");
      await kept(browser, "/page", hashOf(text));
      text = template.replace("<h3", "<h3 class=new");
      const second = await visit(browser, `${url}/page?again`);
      assert.equal(second.response["content-encoding"], "dcz");
      const body = Number(second.response["content-length"]);
      const brotli = await brotliSize(text);
      assert.ok(body <= brotli * 0.02, `${body} of ${brotli} bytes`);
      assert.equal(await browser.page.locator("h3.new").count(), 1);

      const goods = await visit(browser, `${url}/goods/1`);
      assert.equal(goods.response["content-encoding"], "zstd");
      await kept(browser, "/goods/2", hashOf(template)); // loaded by Link, when the browser was idle
      const others = await visit(browser, `${url}/goods/2`);
      assert.equal(others.response["content-encoding"], "dcz");
      assert.ok(Number(others.response["content-length"]) < 200, others.response["content-length"]);
      assert.ok((await browser.page.content()).includes("/goods/2"), asked);
    } finally {
      await browser.close();
      await closeAll();
    }
  }));
