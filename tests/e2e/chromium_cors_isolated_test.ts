import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { serve } from "../../lib/runtime/mod.ts";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { noChromium, openBrowser } from "./chromium.ts";

/** Another origin's response as a script sees it; the error if CORS forbids reading it. */
interface Seen {
  readonly status: number;
  readonly text: string;
  readonly fields: Readonly<Record<string, string | null>>;
}

const asking = [
  ["/data.json", {}],
  ["/data.json", { "range": "bytes=0-3,8-9", "x-own": "1", "if-none-match": '"other"', "authorization": "x" }],
  ["/docs", {}],
  ["/missing", { "x-own": "1" }],
] as const;

test("scripts of other origins read what cors allows, after preflights, redirects and errors, and nothing else", {
  skip: noChromium,
}, () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeTree(site, {
      "data.json": `{"of":"another origin"}`,
      "docs/index.html": "<p>docs</p>",
      "page.html": `<!doctype html><link rel="icon" href="data:,">`,
    });
    const resources: (() => Promise<unknown>)[] = [];
    const serving = async (cors: StaticHandlerOptions["cors"]): Promise<string> => {
      const handler = await createStaticHandler(site, { cors });
      resources.unshift(handler.close);
      const server = await serve({ fetch: handler.fetch, node: handler.node, hostname: "127.0.0.1", port: 0 });
      resources.unshift(() => server.stop(0));
      return server.url.slice(0, -1);
    };
    try {
      const page = await serving(undefined);
      const sites = [await serving(true), await serving([page]), await serving((origin) => origin === page)];
      const others = [await serving(undefined), await serving(["https://other.example"]), await serving(() => false)];
      const browser = await openBrowser(join(folder, "profile"));
      resources.unshift(browser.close);
      await browser.page.goto(`${page}/page.html`);
      const see = (url: string, headers: Record<string, string>): Promise<Seen | string> =>
        browser.page.evaluate(async ([url, headers]) => {
          try {
            const answer = await fetch(url, { headers });
            const names = ["etag", "content-type", "accept-ranges"];
            const fields = Object.fromEntries(names.map((name) => [name, answer.headers.get(name)]));
            return { status: answer.status, text: await answer.text(), fields };
          } catch (error) {
            return String(error);
          }
        }, [url, headers] as const);
      for (const url of sites) {
        const seen = await Promise.all(asking.map(([path, headers]) => see(url + path, headers)));
        const [whole, parts, docs, missing] = seen as Seen[];
        assert.deepEqual([whole.status, whole.text], [200, `{"of":"another origin"}`]);
        assert.match(whole.fields.etag ?? "", /^"/);
        assert.equal(whole.fields["accept-ranges"], "bytes");
        assert.equal(parts.status, 206);
        assert.match(parts.fields["content-type"] ?? "", /^multipart\/byteranges/);
        assert.deepEqual([docs.status, docs.text], [200, "<p>docs</p>"]);
        assert.equal(missing.status, 404);
      }
      for (const url of others) {
        for (const [path, headers] of asking) assert.match(String(await see(url + path, headers)), /Failed to fetch/);
      }
    } finally {
      for (const release of resources) await release();
    }
  }));
