import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { corpusFolder } from "../corpus_folder.ts";
import { precompress } from "../../lib/precompress/mod.ts";
import { nodeModules } from "../corpus.ts";

/** A folder to serve, and the paths to request. */
export interface Site {
  readonly folder: string;
  readonly paths: readonly string[];
}

/** A file of a site that is yet to be made: its path below the folder has its hash for `[hash]`. */
interface Draft {
  readonly path: string;
  readonly text: string;
}

const SOURCES = [
  "three/build/three.core.min.js",
  "vue/dist/vue.global.prod.js",
  "d3/dist/d3.min.js",
  "lodash/lodash.min.js",
  "react-dom/cjs/react-dom-client.production.js",
];
const BUNDLE = 50_000;

/** Returns the first 50 KB of each of five libraries' scripts. */
export function bundleSite(): Promise<Site> {
  return siteOf(
    "bundles",
    SOURCES.map((source, i) => ({
      path: `assets/bundle-${i}-[hash].js`,
      text: sourceText(source).slice(0, BUNDLE),
    })),
  );
}

/** 1,000 files of 2 to 30 KB: 400 pages, 500 scripts and 100 styles, which have hashes in their names. */
export function thousandFileSite(): Promise<Site> {
  const script = SOURCES.map(sourceText).join("");
  const style = sourceText("bootstrap/dist/css/bootstrap.css");
  const drafts = Array.from({ length: 1000 }, (_, i): Draft => {
    const size = 2000 + i * 7919 % 28_000;
    if (i < 400) return { path: `docs/page-${i}.html`, text: page(i, script.slice(i * 600, i * 600 + size)) };
    if (i < 900) {
      return { path: `assets/chunk-${i}-[hash].js`, text: `// ${i}\n${script.slice(i * 200).slice(0, size)}` };
    }
    return { path: `assets/theme-${i}-[hash].css`, text: `/* ${i} */\n${style.slice(i * 100).slice(0, size)}` };
  });
  return siteOf("thousand-files", drafts);
}

function page(number: number, text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<!doctype html>\n<html lang="en"><title>Page ${number}</title><body><pre>${escaped}</pre></body></html>\n`;
}

function sourceText(path: string): string {
  return readFileSync(join(nodeModules, path), "utf8").replaceAll(/[^\n\x20-\x7e]/g, "?");
}

/** Makes the site with all its variants, if it is not there. */
async function siteOf(name: string, drafts: readonly Draft[]): Promise<Site> {
  const folder = join(corpusFolder, "static", name);
  const files = drafts.map(({ path, text }) => ({ path: path.replace("[hash]", hashOf(text)), text }));
  const paths = files.map(({ path }) => `/${path}`);
  if (existsSync(folder)) return { folder, paths };
  const unfinished = `${folder}.${process.pid}`;
  for (const { path, text } of files) {
    mkdirSync(dirname(join(unfinished, path)), { recursive: true });
    writeFileSync(join(unfinished, path), text);
  }
  await precompress(unfinished);
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
  return { folder, paths };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
