import assert from "node:assert/strict";
import { globSync, readFileSync, rmSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import type { AxeResults } from "axe-core";
import { builtPackage } from "../support/built_package.ts";
import { isLong } from "../support/long_run.ts";
import { root, runtime } from "../support/runtime.ts";
import { type Browser, noChromium, openBrowser } from "../e2e/chromium.ts";
import { runBuilt, type ServedSite, serveSite } from "./served_site.ts";

const skip = runtime !== "node" && "the site is built on Node, and has the same bytes everywhere";
const artefacts = process.env.MILLRACE_ARTEFACTS ?? join(root, "artefacts");
/** The limit of what a page loads before its visitor does something, in bytes on the wire. */
const BUDGET = 60_000;

let folder = "";
let site = "";
let pages: readonly string[] = [];
let server: ServedSite;
let browser: Browser;

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), "millrace-site-"));
  site = join(folder, "site");
  const { makeSite } = await import("../../.ci/site/build.ts");
  await makeSite(site, await builtPackage());
  pages = globSync("**/*.html", { cwd: site }).sort();
  if (noChromium) return;
  // Quick levels: what fits the budget at these does so at the best.
  await runBuilt("precompress", site, "--formats", "brotli", "--level-brotli", "5", "--quiet");
  server = await serveSite(site);
  browser = await openBrowser(join(folder, "profile"));
});

after(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

function htmlOf(page: string): string {
  return readFileSync(join(site, page), "utf8");
}

test("the site has every page of the repository, and no link of it leads nowhere", { skip }, async () => {
  const { deadLinks } = await import("../../.ci/site/links.ts");
  const { readGroups } = await import("../../.ci/site/pages.ts");
  assert.deepEqual(deadLinks(site), []);
  for (const { output } of readGroups().flatMap(({ pages }) => pages)) assert.ok(pages.includes(output), output);
  for (const plot of globSync("bench/plots/*.svg", { cwd: root })) {
    assert.ok(htmlOf("benchmarks.html").includes(`pictures/${plot.split("/").at(-1)}"`), plot);
  }
});

test("the API reference describes every name of every subpath", { skip }, async () => {
  const { readModules } = await import("../../.ci/site/deno_doc.ts");
  const modules = readModules();
  const described = new Set(
    pages.flatMap((page) => [...htmlOf(page).matchAll(/<h3 id="(\w+)" class="symbol">/g)])
      .map(([, name]) => name),
  );
  assert.ok(modules.length > 20);
  for (const { subpath, symbols } of modules) {
    const page = `api/${subpath === "." ? "main" : subpath.slice(2).replaceAll("/", "-")}.html`;
    for (const { name } of symbols) {
      assert.ok(described.has(name), name);
      assert.match(htmlOf(page), new RegExp(`<a href="[^"]*#${name}"><code>${name}</code></a>`), `${page}: ${name}`);
    }
  }
});

test("a link that leads nowhere, or out of the site, is found", { skip }, async () => {
  const { deadLinks } = await import("../../.ci/site/links.ts");
  const { writeTree } = await import("../support/folders.ts");
  const small = join(folder, "small");
  await writeTree(small, {
    "index.html": '<h1 id="a"></h1><a href="#a">1</a> <a href="#b">2</a> <a href="a/b.html#c">3</a> <a href="/">4</a>',
    "a/b.html": '<a href="../index.html#a">5</a> <img src="no.svg"> <a href="https://example.com/">6</a>',
  });
  const found = deadLinks(small).map((fault) => fault.split(": ").slice(0, 2).join(" "));
  assert.deepEqual(found, ["a/b.html no.svg", "index.html #b", "index.html a/b.html#c", "index.html /"]);
});

test("pages load nothing from elsewhere, and no page needs a script to be read", { skip }, () => {
  for (const page of pages) {
    const html = htmlOf(page);
    assert.doesNotMatch(html, /(?:src|action)="(?:https?:)?\/\/|<link [^>]*href="(?:https?:)?\/\//, page);
    const [, main] = /<main id="content">(.*)<\/main>/s.exec(html)!;
    assert.ok(main.includes("<h1"), page);
  }
});

async function violations({ page }: Browser): Promise<string[]> {
  const results = await page.evaluate(() => (globalThis as unknown as { axe: { run(): AxeResults } }).axe.run());
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

test("in Chromium pages stay within their budget, are no wider than a phone, and axe finds nothing", {
  skip: skip || noChromium,
}, async () => {
  const { page, takeExchanges, complaints } = browser;
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await mkdir(artefacts, { recursive: true });
  const chosen = ["index.html", "guide/index.html", "guide/static.html", "benchmarks.html", "api/http.html"];
  const heaviest: [number, string] = [0, ""];
  const session = await page.context().newCDPSession(page);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  for (const path of isLong ? pages : chosen) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await takeExchanges();
    await page.goto(`${server.url}${path}`, { waitUntil: "load" });
    const sizes = [...(await takeExchanges()).values()].map(({ transferred }) => transferred);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(total <= BUDGET, `${path}: ${total} bytes`);
    if (total > heaviest[0]) heaviest.splice(0, 2, total, path);
    await page.evaluate(axe);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(browser), [], `${path}, ${colorScheme}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${path} is wider than a phone by ${over} pixels`);
    if (path === "index.html") await page.screenshot({ path: join(artefacts, "site-phone.png") });
  }
  await session.detach();
  console.log(`the heaviest page is ${heaviest[1]}: ${heaviest[0]} bytes on the wire`);
  assert.deepEqual(complaints, []);
});

test(
  "in Chromium the search finds sections by keys alone, from files as well",
  { skip: skip || noChromium },
  async () => {
    const { page } = browser;
    await page.setViewportSize({ width: 1440, height: 900 });
    for (const base of [server.url, `${pathToFileURL(site).href}/`]) {
      await page.goto(`${base}guide/text.html`);
      await page.keyboard.press("/");
      await page.keyboard.type("clean urls");
      await page.locator(".search li a").first().waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(/guide\/(?:static|cli)/);
    }
  },
);
