import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import test from "node:test";
import { precompress } from "../../lib/precompress/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { ConnectChain } from "../static/connect_chain.ts";
import { serveOnHttp } from "../static/served_handler.ts";
import { noChromium, openBrowser } from "./chromium.ts";

const page = (script: string): string =>
  `<!doctype html><link rel="icon" href="data:,"><script src="assets/${script}"></script>`;
const former = sourceText(60_000);
const script = (version: string): Uint8Array =>
  new TextEncoder().encode(`/* ${new TextDecoder().decode(former)} */ globalThis.app = "${version}";`);

test("below a mount, a page's relative links hold without its slash, and an update comes as a delta", {
  skip: noChromium,
}, () =>
  inFolder(async (folder) => {
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    await writeTree(one, { "index.html": page("app-9d8b7a6f.js"), "assets/app-9d8b7a6f.js": script("one") });
    await writeTree(two, { "index.html": page("app-3f9a1c0b.js"), "assets/app-3f9a1c0b.js": script("two") });
    await precompress(one, { formats: ["zstd"] });
    await precompress(two, { formats: ["zstd"], previous: one });
    const resources: (() => Promise<unknown>)[] = [];
    try {
      const sites = [await createStaticHandler(one), await createStaticHandler(two)];
      for (const { close } of sites) resources.unshift(close);
      let deployed = 0;
      const chain = new ConnectChain().use("/the+docs", (...request) => sites[deployed].node(...request));
      const { port, close: stop } = await serveOnHttp(chain.listener);
      resources.unshift(stop);
      const browser = await openBrowser(join(folder, "profile"));
      resources.unshift(browser.close);
      const visit = async () => {
        await browser.takeExchanges();
        await browser.page.goto(`http://127.0.0.1:${port}/the+docs`);
        assert.equal(browser.page.url(), `http://127.0.0.1:${port}/the+docs/`);
        assert.equal(await browser.page.evaluate("app"), ["one", "two"][deployed]);
        await browser.page.waitForLoadState("networkidle");
        return await browser.takeExchanges();
      };
      const first = (await visit()).get("/the+docs/assets/app-9d8b7a6f.js")!;
      assert.equal(first.response["content-encoding"], "zstd");
      deployed = 1;
      const hash = createHash("sha256").update(script("one")).digest("base64");
      const update = (await visit()).get("/the+docs/assets/app-3f9a1c0b.js")!;
      assert.equal(update.request["available-dictionary"], `:${hash}:`);
      assert.equal(update.response["content-encoding"], "dcz");
    } finally {
      for (const release of resources) await release();
    }
  }));
