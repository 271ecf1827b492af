/**
 * Makes the site of the project: the pages, the API reference, the benchmarks with their plots, a search, and the
 * playground, as a folder that works from any path and without a server, and with what `millrace precompress` writes
 * beside its files. It takes the built package, of `dist/`.
 *
 *   npm run site                          builds the package, and the site in site/
 *   node .ci/site/build.ts FOLDER DIST    of the package built in DIST
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import type { build as Build } from "esbuild";
import { root } from "../root.ts";
import { Reference } from "./api.ts";
import { readModules } from "./deno_doc.ts";
import { homeBody } from "./home.ts";
import { documentOf, guideMenu, type Sheet } from "./layout.ts";
import { deadLinks } from "./links.ts";
import { playgroundSheet, writePlayground } from "./playground.ts";
import { escaped, type Picture, type Places, render, type Rendered } from "./markdown.ts";
import { type Group, hrefTo, type Page, readGroups, summaryOf } from "./pages.ts";
import { type Entry, searchScript, sectionsOf } from "./search_index.ts";

// Deno imports what package.json lists as a development dependency only so.
const { build } = createRequire(import.meta.url)("esbuild") as { build: typeof Build };
const assets = join(root, ".ci/site/assets");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

/**
 * Writes the site to `folder`, in place of what is there; an error names links that lead nowhere.
 *
 * @param dist The folder of the built package.
 */
export async function makeSite(folder: string, dist: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const groups = readGroups();
  const places = placesOf(groups);
  const entries: Entry[] = [];
  const put = (sheet: Sheet): void => write(folder, sheet.output, documentOf(sheet, version));
  for (const { name, pages } of groups) {
    for (const page of pages) {
      const rendered = render(page.text, page, places);
      put(sheetOf(page, rendered, groups));
      entries.push(...sectionsOf(page, name, rendered));
    }
  }
  put(overviewOf(groups));
  put(playgroundSheet());
  const reference = new Reference(readModules(), places);
  for (const sheet of reference.sheets()) put(sheet);
  entries.push(...reference.entries);
  for (const [source, { output }] of places.pictures) write(folder, output, readFileSync(join(root, source)));
  write(folder, "assets/search_index.js", searchScript(entries));
  await writeAssets(folder);
  await writePlayground(folder, dist);
  const dead = deadLinks(folder);
  if (dead.length > 0) throw new Error(`links of the site lead nowhere:\n${dead.join("\n")}`);
}

function write(folder: string, output: string, content: string | Uint8Array): void {
  const path = join(folder, output);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function placesOf(groups: readonly Group[]): Places {
  const pictures = globSync(["lib/**/*.svg", "bench/plots/*.svg"], { cwd: root }).map((path): [string, Picture] => {
    const source = path.replaceAll("\\", "/");
    const text = readFileSync(join(root, source), "utf8");
    const [, , width, height] = /viewBox="([\d.-]+ [\d.-]+) ([\d.]+) ([\d.]+)"/.exec(text)!;
    return [source, { output: `pictures/${source.split("/").at(-1)}`, width, height }];
  });
  const pages = groups.flatMap(({ pages }) => pages.map(({ source, output }) => [source, output] as const));
  return { pages: new Map(pages), pictures: new Map(pictures) };
}

function sheetOf(page: Page, rendered: Rendered, groups: readonly Group[]): Sheet {
  const { output, title } = page;
  const description = summaryOf(page) || title;
  if (output === "index.html") {
    return { output, title: `${title}: ${description}`, description, kind: "home", body: homeBody(rendered, output) };
  }
  const aside = guideMenu(groups, output);
  const { headings } = rendered;
  const all = groups.flatMap(({ pages }) => pages);
  const at = all.indexOf(page);
  const around = [all[at - 1], all[at + 1]] as const;
  return { output, title, description, kind: "guide", aside, headings, around, body: rendered.html };
}

/** Returns the page that lists all others. */
function overviewOf(groups: readonly Group[]): Sheet {
  const output = "guide/index.html";
  const lists = groups.map(({ name, pages }) => {
    const items = pages.filter(({ source }) => source !== "README.md").map((page) => {
      const subpath = page.subpath ? `<code>${page.subpath}</code>` : "";
      const link = `<a href="${hrefTo(output, page.output)}">${escaped(page.title)}</a>`;
      return `<li><h3>${link}${subpath}</h3>\n<p>${escaped(summaryOf(page))}</p></li>`;
    });
    return `<h2>${escaped(name)}</h2>\n<ul class="cards">\n${items.join("\n")}\n</ul>`;
  });
  return {
    output,
    title: "Guide",
    description: "All pages about Millrace.",
    kind: "guide",
    aside: guideMenu(groups, output),
    body: `<h1>Guide</h1>\n<p class="lead">Each part has a page, and each is behind a subpath of its own.</p>\n${
      lists.join("\n")
    }`,
  };
}

/** Bundles the style and the scripts of all pages. */
async function writeAssets(folder: string): Promise<void> {
  await build({
    absWorkingDir: assets,
    entryPoints: ["site.css", "site.ts"],
    outdir: join(folder, "assets"),
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022", "chrome120", "firefox120", "safari17"],
    charset: "utf8",
    legalComments: "inline",
    ignoreAnnotations: true, // package.json says that no source but its own has side effects
    logLevel: "warning",
  });
  cpSync(join(assets, "mark.svg"), join(folder, "assets/mark.svg"));
  cpSync(join(root, "node_modules/minisearch/LICENSE.txt"), join(folder, "assets/minisearch_license.txt"));
}

/** Writes the variants of all files by the command of the built package, which prints the savings. */
function precompressSite(folder: string, dist: string): void {
  execFileSync(process.execPath, [join(dist, "lib/cli/cli.js"), "precompress", folder], { stdio: "inherit" });
}

if (process.argv[1] === import.meta.filename) {
  const [folder = join(root, "site"), dist = join(root, "dist")] = process.argv.slice(2).map((path) => resolve(path));
  await makeSite(folder, dist);
  precompressSite(folder, dist);
  console.log(`${relative(process.cwd(), folder)}/index.html`);
}
