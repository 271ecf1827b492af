/**
 * The sizes of documentation sites' pages with a dictionary of the site (RFC 9842), compared with brotli 11: those of the
 * files, and those of a first visit of ten pages in Chromium.
 *
 *   npm run bench -- site_dictionaries --only node        with SITES_ROOT naming a folder of sites
 *
 * A site with more than 400 pages contributes 400, spread over all.
 */
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { extensions, precompress, readManifest } from "../lib/precompress/mod.ts";
import { serve } from "../lib/runtime/mod.ts";
import { createStaticHandler } from "../lib/static/mod.ts";
import { noChromium, openBrowser } from "../tests/e2e/chromium.ts";
import { circumstances, table, writeSection } from "./results.ts";

const MOST_PAGES = 400;
const VISITED = 10;

/** HTML pages below a folder that are compressed at all, in an order that has nothing to do with their content. */
async function pagesIn(root: string): Promise<string[]> {
  const pages: string[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && entry.name.endsWith(".html") && (await stat(path)).size >= 1024) {
      pages.push(path.slice(root.length + 1));
    }
  }
  const order = new Map(pages.map((path) => [path, createHash("sha256").update(path).digest("hex")]));
  return pages.sort((a, b) => order.get(a)! < order.get(b)! ? -1 : 1);
}

/** Bytes on the wire, bodies only, of the first pages of a visit, and of the dictionary that came in between. */
async function visit(folder: string, paths: readonly string[]): Promise<{ pages: number[]; codings: string[] }> {
  const handler = await createStaticHandler(folder);
  const server = await serve({ fetch: handler.fetch, node: handler.node, hostname: "127.0.0.1", port: 0 });
  const profile = await mkdtemp(join(tmpdir(), "millrace-visit-"));
  const browser = await openBrowser(profile);
  try {
    const pages: number[] = [];
    const codings: string[] = [];
    for (const path of paths) {
      const url = new URL(path.split("/").map(encodeURIComponent).join("/"), server.url);
      await browser.page.goto(url.href);
      await browser.page.waitForTimeout(700); // the page is read, and the browser loads the dictionary
      const exchange = (await browser.takeExchanges()).get(url.pathname)!;
      pages.push(Number(exchange.response["content-length"]));
      codings.push(exchange.response["content-encoding"] ?? "identity");
    }
    return { pages, codings };
  } finally {
    await browser.close();
    await server.stop(0);
    await handler.close();
    await rm(profile, { recursive: true, force: true });
  }
}

const root = process.env.SITES_ROOT;
if (root === undefined) throw new Error("SITES_ROOT has to name a folder of sites");
const rows: string[][] = [];
for (const site of (await readdir(root)).sort()) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-site-"));
  try {
    const all = await pagesIn(join(root, site));
    const pages = all.slice(0, MOST_PAGES);
    for (const path of pages) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await cp(join(root, site, path), join(folder, path), { dereference: true });
    }
    const { siteDictionary } = await precompress(folder, { formats: ["brotli"], siteDictionary: true });
    const { files } = (await readManifest(folder))!;
    const sizes = pages.map((path) => {
      const { size, variants } = files[path];
      const brotli = variants.brotli?.size ?? size;
      return { brotli, delta: Math.min(brotli, variants["site-dcb"]?.size ?? Infinity) };
    });
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
    const [brotli, delta] = [sum(sizes.map((each) => each.brotli)), sum(sizes.map((each) => each.delta))];
    const cost = siteDictionary ? (await stat(join(folder, siteDictionary.path + extensions.brotli))).size : 0;
    const visited = noChromium ? undefined : await visit(folder, pages.slice(0, VISITED));
    const plain = sum(sizes.slice(0, VISITED).map((each) => each.brotli));
    rows.push([
      site,
      `${pages.length.toLocaleString("en")} of ${all.length.toLocaleString("en")}`,
      siteDictionary ? siteDictionary.size.toLocaleString("en") : "none",
      cost.toLocaleString("en"),
      Math.round(brotli / pages.length).toLocaleString("en"),
      Math.round(delta / pages.length).toLocaleString("en"),
      (delta / brotli).toFixed(2),
      (sum(sizes.map((each) => each.delta / each.brotli)) / sizes.length).toFixed(2),
      (cost / ((brotli - delta) / pages.length)).toFixed(1),
      visited ? `${(sum(visited.pages) + cost).toLocaleString("en")} / ${plain.toLocaleString("en")}` : "-",
    ]);
    console.log(rows.at(-1)!.join(" | "), visited?.codings.join(" "));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
const heads = [
  "site",
  "pages",
  "dictionary",
  "by brotli",
  "a page, brotli 11",
  "a page, delta",
  "share",
  "mean share of a page",
  "pages to pay for it",
  "first ten pages in Chromium, dictionary included / brotli 11",
];
writeSection(
  "site_dictionaries",
  `${circumstances()}. Bytes of bodies. Debian's packages of documentation, by \`siteDictionary\`, \`dcb\` at level 11. ` +
    `The share is of all pages' bytes.\n\n${table(heads, rows)}`,
);
