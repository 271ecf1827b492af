import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { isLong } from "../../support/long_run.ts";
import { root, runtime } from "../../support/runtime.ts";
import type { TestedBrowser } from "../../browser/browsers.ts";
import { installsCopies, orders, seenOfCopies } from "../installed_copies.ts";
import { replacements } from "../replacements.ts";

// Loaded under Node only: nothing else drives browsers.
const browsers = runtime === "node" ? (await import("../../browser/browsers.ts")).browsers : [];
const { bundle } = runtime === "node" ? await import("../../../.ci/bundle.ts") : {};

type Pages = Readonly<Record<string, string>>;

/** The pages, by their paths: each loads a module of this folder of the same name, or installs two copies. */
const pages: Pages = {
  "/in_browser": module("/in_browser.js"),
  "/in_replaced_page": module("/in_replaced_page.js"),
  "/in_polyfilled_page": `<script src="/polyfill.js"></script>${module("/in_polyfilled_page.js")}`,
  ...Object.fromEntries(orders.map(([order, left]) => [
    `/copies_${left}`,
    `<script type="module">${installsCopies("", order)}globalThis.seen = seen;</script>`,
  ])),
};

function module(path: string): string {
  return `<script type="module" src="${path}"></script>`;
}

async function servePages(folder: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const bundleInto = (outdir: string, entries: Pages): Promise<unknown> =>
    bundle!({ entries, outdir, codecs: outdir, options: { platform: "browser" } });
  const modules = ["in_browser", "in_replaced_page", "in_polyfilled_page"];
  await bundleInto(folder, Object.fromEntries(modules.map((name) => [name, `tests/streams/edge/${name}.ts`])));
  await bundleInto(join(folder, "a"), { install: "lib/streams/install.ts" });
  const polyfill = join(root, "node_modules/web-streams-polyfill/dist/polyfill.js");
  const server = createServer(async ({ url }, response) => {
    const [path] = url!.split("?");
    const page = pages[path!];
    response.setHeader("content-type", page === undefined ? "text/javascript" : "text/html");
    const file = path === "/polyfill.js" ? polyfill : join(folder, path!.replace(/^\/b/, "/a")); // from there another copy
    response.end(page === undefined ? await readFile(file).catch(() => "") : `<!doctype html>${page}`);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => (server.closeAllConnections(), void server.close()),
  };
}

/** Waits for the global `seen`, which the page's module sets, and returns it. */
async function seen<Seen>(): Promise<Seen> {
  while (!("seen" in globalThis)) await new Promise((passed) => setTimeout(passed, 20));
  return (globalThis as unknown as { seen: Seen }).seen;
}

function wrong(texts: Record<string, string>): [string, string][] {
  return Object.entries(texts).filter(([, text]) => text !== "abc");
}

async function check(browser: TestedBrowser): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-edge-"));
  const { url, close } = await servePages(folder);
  const page = await browser.open(join(folder, "profile"));
  const open = async <Seen>(path: string): Promise<Seen> => {
    await page.goto(`${url}${path}`);
    return await page.call(seen<Seen>, null);
  };
  try {
    const { polyfilled, texts } = await open<{ polyfilled: boolean; texts: Record<string, string> }>(
      "/in_polyfilled_page",
    );
    assert.ok(polyfilled);
    assert.deepEqual(wrong(texts), []);

    for (const [, left] of orders) assert.deepEqual(await open(`/copies_${left}`), seenOfCopies(left));

    // Each class alone takes as long as all.
    const names = Object.keys(replacements).filter((name) => isLong || !name.endsWith("a class that extends it"));
    for (const name of names) {
      const { unhandled, ...texts } = await open<Record<string, string>>(
        `/in_replaced_page?by=${encodeURIComponent(name)}`,
      );
      assert.deepEqual([name, wrong(texts), unhandled], [name, [], "none"]);
    }

    const { count, differences } = await open<{ count: number; differences: object }>(
      `/in_browser${isLong ? "" : "?every=8"}`,
    );
    assert.deepEqual(differences, {});
    assert.ok(count >= (isLong ? 5_000 : 625), `${count} cells`);
  } finally {
    await page.close();
    close();
    await rm(folder, { recursive: true, force: true });
  }
}

if (browsers.length === 0) {
  test("browsers see of our streams what they see of their own", { skip: "Node alone drives the browsers" }, () => {});
}

for (const browser of browsers) {
  const { missing: skip, name } = browser;
  test(
    `${name} sees of our streams what it sees of its own, and takes them where a page has replaced globals`,
    { skip },
    () => check(browser),
  );
}
