import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { precompress } from "../../lib/precompress/mod.ts";
import { serve } from "../../lib/runtime/mod.ts";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { pagesOfSite } from "../precompress/pages.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { ConnectChain } from "../static/connect_chain.ts";
import { serveOnHttp } from "../static/served_handler.ts";
import { type Exchange, noChromium, openBrowser } from "./chromium.ts";

const skip = noChromium;

/** The reason to skip cases of the browser whose responses are equal on every runtime. */
const skipElsewhere = skip || (runtime !== "node" && !isLong && "Chromium does the same with the same answers");

/** A browser at a site, of which a new dictionary is found within some seconds after each page. */
interface Visit {
  readonly folder: string;
  /** Opens a page by its path, and returns the exchange of the page itself. */
  readonly go: (path: string) => Promise<Exchange>;
  /** Opens pages until the browser sends a dictionary's hash, and returns the last exchange. */
  readonly goUntilKept: (paths: readonly string[]) => Promise<Exchange>;
  readonly reload: () => Promise<void>;
  readonly complaints: readonly string[];
}

/** Levels and formats that take a tenth of the time of the best: a browser keeps and requests the same. */
const fast = { formats: ["brotli", "zstd"], levels: { brotli: 5, zstd: 3 } } as const;

let made: Promise<string> | undefined;

/** Returns a folder with the generated site, precompressed with a dictionary once for all tests. */
function precompressed(): Promise<string> {
  return made ??= (async () => {
    const root = await mkdtemp(join(tmpdir(), "millrace-site-"));
    await writeTree(root, pagesOfSite({ count: 12 }));
    await precompress(root, { siteDictionary: true, ...fast });
    return root;
  })();
}

after(async () => made && await rm(await made, { recursive: true }));

/** Serves the generated site as precompressed with a dictionary of the site. */
async function visiting(
  options: StaticHandlerOptions & { readonly mount?: string },
  use: (visit: Visit) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    const { mount, ...others } = options;
    const root = join(folder, "site");
    await cp(await precompressed(), root, { recursive: true, preserveTimestamps: true });
    const resources: (() => Promise<unknown>)[] = [];
    try {
      const handler = await createStaticHandler(root, others);
      resources.unshift(handler.close);
      let origin: string;
      if (mount === undefined) {
        const server = await serve({ fetch: handler.fetch, node: handler.node, hostname: "127.0.0.1", port: 0 });
        resources.unshift(() => server.stop(0));
        origin = new URL(server.url).origin;
      } else {
        const { port, close } = await serveOnHttp(new ConnectChain().use(mount, handler.node).listener);
        resources.unshift(close);
        origin = `http://127.0.0.1:${port}`;
      }
      const { page, takeExchanges, complaints, close } = await openBrowser(join(folder, "profile"));
      resources.unshift(close);
      const go = async (path: string): Promise<Exchange> => {
        await takeExchanges();
        await page.goto(origin + path);
        assert.match(await page.textContent("h1") ?? "", /^Page \d+$/);
        await page.waitForLoadState("networkidle");
        return (await takeExchanges()).get(path)!;
      };
      const goUntilKept = async (paths: readonly string[]): Promise<Exchange> => {
        for (const path of paths) {
          const exchange = await go(path);
          if (exchange.request["available-dictionary"] !== undefined) return exchange;
          await page.waitForTimeout(300);
        }
        return assert.fail("the browser keeps no dictionary");
      };
      await use({ folder: root, go, goUntilKept, complaints, reload: handler.reload });
    } finally {
      for (const release of resources) await release();
    }
  });
}

const more = Array.from({ length: 10 }, (_, i) => `/docs/${i + 2}.html`);

async function sizeOf(folder: string, path: string): Promise<number> {
  return (await stat(join(folder, path))).size;
}

test(
  "the second page of a first visit comes as a delta against the dictionary of the site",
  { skip },
  () =>
    visiting({}, async ({ folder, go, goUntilKept, complaints }) => {
      const first = await go("/docs/1.html");
      assert.match(first.response["content-encoding"]!, /^(br|zstd)$/);
      assert.match(first.response.link!, /^<\/site-dictionary-[0-9a-f]{16}\.dict>; rel="compression-dictionary"$/);
      const second = await goUntilKept(more);
      assert.match(second.response["content-encoding"]!, /^dc[bz]$/);
      assert.equal(second.response.link, undefined);
      const whole = await sizeOf(folder, `${second.path}.br`);
      assert.ok(second.transferred < 0.8 * whole, `${second.transferred} of ${whole} bytes`);
      assert.deepEqual(complaints, []);
    }),
);

test("below a mount and a base path, pages come as deltas, too", { skip }, async () => {
  for (const options of [{ mount: "/the+docs" }, { basePath: "/the+docs/" }]) {
    await visiting(options, async ({ go, goUntilKept }) => {
      const first = await go("/the+docs/docs/1.html");
      assert.match(first.response.link!, /^<\/the\+docs\/site-dictionary-/);
      const later = await goUntilKept(more.map((path) => `/the+docs${path}`));
      assert.match(later.response["content-encoding"]!, /^dc[bz]$/);
    });
  }
});

test(
  "a page that may be stale for a while is a dictionary for itself, before that of the site",
  { skip: skipElsewhere },
  () =>
    visiting({ cacheControl: "max-age=0, stale-while-revalidate=600" }, async ({ folder, go, goUntilKept, reload }) => {
      const kept = await goUntilKept(more);
      assert.match(kept.response["content-encoding"]!, /^dc[bz]$/);
      await go("/docs/1.html");
      const former = `${folder}-former`;
      await cp(folder, former, { recursive: true });
      await writeTree(folder, pagesOfSite({ count: 12, edition: "second" }));
      await precompress(folder, { siteDictionary: true, ...fast, previous: former });
      await reload();
      const again = await go("/docs/1.html");
      assert.equal(again.request["available-dictionary"], await hashField(join(former, "docs/1.html")));
      assert.match(again.response["content-encoding"]!, /^dc[bz]$/);
      assert.ok(Number(again.response["content-length"]) < 200, `${again.response["content-length"]} bytes`);
      // The site's dictionary is kept while it is as good as a new one.
      const other = await go("/docs/11.html");
      assert.equal(other.request["available-dictionary"], kept.request["available-dictionary"]);
      assert.match(other.response["content-encoding"]!, /^dc[bz]$/);
    }),
);

test(
  "a page whose policy forbids to load the dictionary, and one without it, come as brotli or zstd",
  { skip: skipElsewhere },
  () =>
    visiting({
      headers: (path) => path.endsWith(".html") ? { "content-security-policy": "default-src 'none'" } : undefined,
    }, async ({ folder, go, reload }) => {
      for (const path of more.slice(0, 4)) {
        const exchange = await go(path);
        assert.equal(exchange.request["available-dictionary"], undefined);
        assert.match(exchange.response["content-encoding"]!, /^(br|zstd)$/);
      }
      for (const name of await listed(folder)) if (name.startsWith("site-dictionary-")) await rm(join(folder, name));
      await reload();
      const exchange = await go("/docs/1.html");
      assert.equal(exchange.response.link, undefined);
      assert.match(exchange.response["content-encoding"]!, /^(br|zstd)$/);
    }),
);

test(
  "a browser with another dictionary than that of the site gets brotli or zstd, then the new one",
  { skip: skipElsewhere },
  () =>
    visiting({ onWarning: () => {} }, async ({ folder, go, goUntilKept, reload }) => {
      const former = await goUntilKept(more);
      await rm(folder, { recursive: true });
      const pages = Object.entries(pagesOfSite({ count: 12 }));
      await writeTree(folder, Object.fromEntries(pages.map(([path, html]) => [path, html.replaceAll("o", "ö")])));
      await precompress(folder, { siteDictionary: true, ...fast });
      await reload();
      const first = await go("/docs/1.html");
      assert.equal(first.request["available-dictionary"], former.request["available-dictionary"]);
      assert.match(first.response["content-encoding"]!, /^(br|zstd)$/);
      for (const path of more) {
        const later = await go(path);
        if (later.request["available-dictionary"] === former.request["available-dictionary"]) continue;
        assert.match(later.response["content-encoding"]!, /^dc[bz]$/);
        return;
      }
      assert.fail("the new dictionary was not kept");
    }),
);

async function hashField(path: string): Promise<string> {
  return `:${createHash("sha256").update(await readFile(path)).digest("base64")}:`;
}
