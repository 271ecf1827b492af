/**
 * Makes the API reference of every subpath, with the pages and the picture of how bytes flow, as a folder of HTML.
 *
 *   npm run docs                  in reference/
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import { gfmHeadingId } from "marked-gfm-heading-id";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const PICTURE = "lib/data_flow.svg";

/** The Markdown pages, the one to begin with first. */
function pages(): string[] {
  const own = [
    "README.md",
    "ARCHITECTURE.md",
    "bench/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    ".github/SECURITY.md",
    "tests/README.md",
  ];
  return [...own, "lib/**/*.md"].flatMap((pattern) => globSync(pattern, { cwd: root }).sort());
}

/** The modules of the subpaths, but for the command's, which exports nothing. */
function entryPoints(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as { exports: Record<string, string> };
  return Object.entries(exports).filter(([subpath]) => subpath !== "./cli").map(([, path]) => path);
}

function makeReference(folder: string): void {
  const deno = join(root, "node_modules/.bin/deno");
  const args = ["doc", "--quiet", "--html", "--name=@millrace/streams", `--output=${folder}`, ...entryPoints()];
  const { status, stderr } = spawnSync(deno, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`deno doc ended with ${status}: ${stderr}`);
}

/** Returns the path of a repository page in the folder. */
function outputOf(page: string): string {
  return join("pages", page.replace(/\.md$/, ".html"));
}

function titleOf(text: string): string {
  return /^# (.*)$/m.exec(text)?.[1].replaceAll("`", "") ?? "";
}

/** HTML of a page's Markdown; links between pages stay links between pages, others into the repository are text. */
function rendered(text: string): string {
  const marked = new Marked({ gfm: true }, gfmHeadingId());
  const html = marked.parse(text) as string;
  return html.replace(
    /<a href="((?!\w+:)[^"#]*)(#[^"]*)?">(.*?)<\/a>/g,
    (link, path: string, place = "", words: string) => {
      if (path === "") return link;
      return path.endsWith(".md") ? `<a href="${path.replace(/\.md$/, ".html")}${place}">${words}</a>` : words;
    },
  );
}

function document(title: string, up: string, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</title>
<style>
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: .8rem; border: 1px solid #8886; border-radius: .4rem; font-size: .85em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
</style>
</head>
<body>
<nav><a href="${up}index.html">@millrace/streams</a></nav>
${body}
</body>
</html>
`;
}

function makePages(folder: string): void {
  for (const page of pages()) {
    const text = readFileSync(join(root, page), "utf8");
    const output = join(folder, outputOf(page));
    mkdirSync(dirname(output), { recursive: true });
    const up = `${relative(dirname(output), folder)}/`;
    writeFileSync(output, document(titleOf(text), up, rendered(text)));
  }
  for (const picture of globSync(["lib/**/*.svg", "bench/plots/*.svg"], { cwd: root })) {
    cpSync(join(root, picture), join(folder, "pages", picture));
  }
}

/** Shows the picture and the pages above what `.` exports. */
function addToIndex(folder: string): void {
  const path = join(folder, "index.html");
  const index = readFileSync(path, "utf8");
  const links = pages().map((page) => {
    return `<li><a href="${outputOf(page)}">${titleOf(readFileSync(join(root, page), "utf8"))}</a></li>`;
  });
  const lead = `<p><img src="pages/${PICTURE}" alt="How bytes flow through the parts of Millrace"></p>
<ul style="columns: 14rem; margin: 1rem 0 2rem">${links.join("\n")}</ul>`;
  const [before, ...after] = index.split('<div id="content">');
  if (after.length !== 1) throw new Error("the index of deno doc has no place for the pages");
  writeFileSync(path, `${before}${lead}<div id="content">${after[0]}`);
}

/** Writes the whole to `folder`, in place of what is there. */
export function makeDocs(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  makeReference(folder);
  makePages(folder);
  addToIndex(folder);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, "reference");
  makeDocs(folder);
  console.log(`${relative(process.cwd(), folder)}/index.html`);
}
