import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
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
// Loaded under Node only: nothing else drives browsers.
const others = skip ? [] : (await import("../browser/browsers.ts")).browsers.filter(({ name }) => name !== "Chromium");
const artefacts = process.env.MILLRACE_ARTEFACTS ?? join(root, "artefacts");
/** The limit of what a page loads before its visitor does something, in bytes. */
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
  server = await serveSite(site);
  if (!noChromium) browser = await openBrowser(join(folder, "profile"));
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

test("the page of an example has all files that a copy needs", { skip }, () => {
  for (const readme of globSync("tests/examples/*/README.md", { cwd: root })) {
    const example = dirname(readme);
    const files = globSync(["**/*.*", "**/Dockerfile", "**/.*"], {
      cwd: join(root, example),
      exclude: ["**/node_modules"],
    });
    const html = htmlOf(`guide/examples-${posix.basename(example)}.html`);
    for (const file of files.filter((path) => path !== "README.md")) {
      assert.ok(html.includes(`>${file} <a class="anchor"`), join(example, file));
    }
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

/** Runs axe's rules, or some of them. */
async function violations({ page }: Browser, rules?: readonly string[]): Promise<string[]> {
  const run = (rules: readonly string[] | undefined): Promise<AxeResults> => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
    return axe.run(rules ? { runOnly: rules } : {});
  };
  const results = await page.evaluate(run, rules);
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
}

test("what a page loads at first, compressed by precompress, stays within the budget", { skip }, async () => {
  // A quick level: what fits the budget at this one does so at the best.
  await runBuilt(
    "precompress",
    site,
    "--formats",
    "brotli",
    "--level-brotli",
    "5",
    "--exclude",
    "**/*.wasm",
    "--quiet",
  );
  const sizeOf = (path: string): number => {
    const variant = join(site, `${path}.br`);
    return statSync(existsSync(variant) ? variant : join(site, path)).size;
  };
  let heaviest: readonly [string, number] = ["", 0];
  for (const page of pages) {
    const loaded = [...htmlOf(page).matchAll(/<(?:link rel="(?:stylesheet|icon)"|script|img)\s[^>]*>/g)]
      .filter(([tag]) => !tag.includes('loading="lazy"'))
      .map(([tag]) => posix.join(posix.dirname(page), /(?:href|src)="([^"]*)"/.exec(tag)![1]));
    assert.ok(loaded.length >= 3, page);
    const total = [page, ...loaded].reduce((sum, path) => sum + sizeOf(path), 0);
    assert.ok(total <= BUDGET, `${page}: ${total} bytes`);
    if (total > heaviest[1]) heaviest = [page, total];
  }
  console.log(`the heaviest of ${pages.length} pages is ${heaviest.join(": ")} bytes`);
});

/** The source of axe. */
function axeSource(): string {
  return readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
}

/** Returns the pages that a browser opens. */
function openedPages(): readonly string[] {
  return isLong ? pages : ["index.html", "guide/build.html", "api/install.html", "playground.html"];
}

test("in Chromium no page is wider than a phone, and axe finds nothing in light and dark", {
  skip: skip || noChromium,
}, async () => {
  const { page, complaints } = browser;
  const axe = axeSource();
  await mkdir(artefacts, { recursive: true });
  for (const path of openedPages()) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(server.url + path);
    await page.evaluate(axe);
    assert.deepEqual(await violations(browser), [], path);
    await page.emulateMedia({ colorScheme: "dark" });
    // Nothing but colours differs.
    assert.deepEqual(await violations(browser, ["color-contrast"]), [], `${path}, dark`);
    if (path === "index.html") await page.screenshot({ path: join(artefacts, "site-dark.png") });
    await page.setViewportSize({ width: 390, height: 844 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${path} is wider than a phone by ${over} pixels`);
    if (path === "index.html") await page.screenshot({ path: join(artefacts, "site-phone.png") });
  }
  assert.deepEqual(complaints, []);
});

for (const { name, missing, open } of others) {
  test(`in ${name} axe finds nothing, and no page complains`, { skip: skip || missing }, async () => {
    const page = await open(join(folder, `profile-${name}`));
    // The text of a function reaches each browser whole, where a page's policy may forbid to evaluate a string.
    const run = new Function(`${axeSource()}
      return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html));`);
    try {
      for (const path of openedPages()) {
        await page.goto(server.url + path);
        assert.deepEqual(await page.call(run as () => Promise<string[]>, undefined), [], path);
      }
      assert.deepEqual(page.complaints, []);
    } finally {
      await page.close();
    }
  });
}

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
    // Browsers run no workers of files, and the page says so.
    await page.goto(pathToFileURL(join(site, "playground.html")).href);
    assert.ok(await page.locator("#needs").isVisible());
  },
);
