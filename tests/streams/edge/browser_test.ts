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

// Loaded under Node only: nothing else drives browsers.
const browsers = runtime === "node" ? (await import("../../browser/browsers.ts")).browsers : [];
const { bundle } = runtime === "node" ? await import("../../../.ci/bundle.ts") : {};

/** The scripts of a page before the module that its path names. */
const before: Readonly<Record<string, string>> = {
  "/in_browser": "",
  "/in_polyfilled_page": '<script src="/polyfill.js"></script>',
};

/** Serves a page for each module of this folder that browsers run. */
async function servePages(folder: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const outdir = join(folder, "pages");
  const entries = Object.fromEntries(
    Object.keys(before).map((path) => [path.slice(1), `tests/streams/edge${path}.ts`]),
  );
  await bundle!({ entries, outdir, codecs: outdir, options: { platform: "browser" } });
  const polyfill = join(root, "node_modules/web-streams-polyfill/dist/polyfill.js");
  const server = createServer(async ({ url }, response) => {
    const [path] = url!.split("?");
    const isPage = path! in before;
    response.setHeader("content-type", isPage ? "text/html" : "text/javascript");
    if (isPage) response.end(`<!doctype html>${before[path!]}<script type="module" src="${path}.js"></script>`);
    else if (path === "/polyfill.js") response.end(await readFile(polyfill));
    else response.end(await readFile(join(outdir, path!)).catch(() => ""));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => (server.closeAllConnections(), void server.close()),
  };
}

/** What the page's module leaves as `seen`. */
async function seen<Seen>(): Promise<Seen> {
  while (!("seen" in globalThis)) await new Promise((passed) => setTimeout(passed, 50));
  return (globalThis as unknown as { seen: Seen }).seen;
}

async function check(browser: TestedBrowser): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-edge-"));
  const { url, close } = await servePages(folder);
  const page = await browser.open(join(folder, "profile"));
  try {
    await page.goto(`${url}/in_polyfilled_page`);
    const { polyfilled, texts } = await page.call(seen<{ polyfilled: boolean; texts: Record<string, string> }>, null);
    assert.ok(polyfilled);
    assert.deepEqual(Object.entries(texts).filter(([, text]) => text !== "abc"), []);

    await page.goto(`${url}/in_browser${isLong ? "" : "?every=8"}`);
    const { count, differences } = await page.call(seen<{ count: number; differences: object }>, null);
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
    `${name} sees of our streams what it sees of its own, and in a page of a polyfill takes them`,
    { skip },
    () => check(browser),
  );
}
