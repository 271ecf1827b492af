import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { root } from "../root.ts";

/** A page of the repository, and its place on the site. */
export interface Page {
  /** The path of the Markdown in the repository. */
  readonly source: string;
  /** The path of the HTML on the site. */
  readonly output: string;
  readonly title: string;
  /** The part that the page is about, as in `./static`; undefined for other pages. */
  readonly subpath: string | undefined;
  readonly text: string;
}

/** Pages that the menu lists together. */
export interface Group {
  readonly name: string;
  readonly pages: readonly Page[];
}

/** The folders of `lib/` by purpose; a folder with pages must be in one of them. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  "Deploys": ["precompress", "build", "static", "compression", "frameworks", "cli", "analyze"],
  "Streams": ["streams", "batch", "text", "codecs", "node"],
  "Data in and out": ["http", "upload", "s3", "files", "pino"],
};

const PROJECT: Readonly<Record<string, string>> = {
  "bench/README.md": "benchmarks.html",
  "CHANGELOG.md": "changelog.html",
  "ARCHITECTURE.md": "guide/architecture.html",
  "CONTRIBUTING.md": "guide/contributing.html",
  "tests/README.md": "guide/tests.html",
  ".github/SECURITY.md": "guide/security.html",
};

/** Returns the subpaths of the public API, with their sources. */
export function subpaths(): Map<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as { exports: Record<string, string> };
  return new Map(Object.entries(exports).map(([subpath, path]) => [subpath, posix.normalize(path)]));
}

/** Returns the pages of the repository as the menu lists them. */
export function readGroups(): Group[] {
  const known = subpaths();
  const page = (source: string, output: string, subpath?: string): Page => {
    const text = readFileSync(join(root, source), "utf8");
    return { source, output, title: titleOf(text), subpath: known.has(subpath ?? "") ? subpath : undefined, text };
  };
  const files = globSync("lib/**/*.md", { cwd: root }).map((path) => path.replaceAll("\\", "/")).sort();
  const start = files.filter((path) => dirname(path) === "lib");
  const parts = Object.entries(PARTS).map(([name, folders]): Group => {
    const pages = folders.flatMap((folder) => {
      const own = files.filter((path) => path.startsWith(`lib/${folder}/`));
      const first = `lib/${folder}/README.md`;
      return [first, ...own.filter((path) => path !== first)].map((path) => {
        return page(path, outputOf(path), path === first ? `./${folder}` : undefined);
      });
    });
    return { name, pages };
  });
  const examples = globSync("tests/examples/**/README.md", { cwd: root }).map((path) => path.replaceAll("\\", "/"))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).map((path) =>
      withFiles(page(path, exampleOutputOf(path)))
    );
  const listed = new Set(parts.flatMap(({ pages }) => pages.map(({ source }) => source)).concat(start));
  const lost = files.filter((path) => !listed.has(path));
  if (lost.length > 0) throw new Error(`${lost.join(", ")}: name the folder in .ci/site/pages.ts`);
  return [
    { name: "Start", pages: [page("README.md", "index.html"), ...start.map((path) => page(path, outputOf(path)))] },
    ...parts,
    { name: "Examples", pages: examples },
    { name: "Project", pages: Object.entries(PROJECT).map(([source, output]) => page(source, output)) },
  ];
}

/** Returns the place of a page below `lib/`: `lib/streams/install.md` is `guide/streams-install.html`. */
function outputOf(source: string): string {
  const name = source.slice("lib/".length, -".md".length).replace(/\/README$/, "");
  return `guide/${name.replaceAll("/", "-").replaceAll("_", "-")}.html`;
}

function exampleOutputOf(source: string): string {
  return `guide/${source.slice("tests/".length, -"/README.md".length).replaceAll("/", "-")}.html`;
}

/** The languages of an example's files, by the end of their names; others are plain text. */
const LANGUAGES: readonly (readonly [RegExp, string])[] = [
  [/\.(?:ts|js)$/, "ts"],
  [/\.jsonc?$/, "json"],
  [/\.html$/, "html"],
];

/** Adds the files of an example to its page. */
function withFiles(page: Page): Page {
  const folder = join(root, dirname(page.source));
  if (dirname(page.source) === "tests/examples") return page;
  const blocks = globSync(["**/*", "**/.*"], { cwd: folder }).sort().flatMap((path) => {
    const isFile = statSync(join(folder, path)).isFile();
    if (!isFile || path === "README.md" || path.includes("node_modules")) return [];
    const [, language = "text"] = LANGUAGES.find(([pattern]) => pattern.test(path)) ?? [];
    const code = readFileSync(join(folder, path), "utf8").trimEnd();
    return [`### ${path.replaceAll("\\", "/")}\n\n\`\`\`${language}\n${code}\n\`\`\``];
  });
  return { ...page, text: `${page.text}\n## Its files\n\n${blocks.join("\n\n")}\n` };
}

function titleOf(text: string): string {
  return /^# (.*)$/m.exec(text)?.[1].replaceAll("`", "") ?? "";
}

/** Returns the first sentence of a page as plain text; of a page that begins otherwise, its headings. */
export function summaryOf({ text }: Page): string {
  const [paragraph = ""] = text.replace(/^# .*\n+/, "").replace(/<!--[^]*?-->\s*/g, "").split(/\n\n/);
  if (/^(?:[|#!]|```)/.test(paragraph)) {
    return [...text.matchAll(/^##+ (.*)$/gm)].slice(0, 9).map(([, words]) => words.replaceAll("`", "")).join(" · ");
  }
  const plain = paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "").replace(/\s+/g, " ").trim();
  return /^.{40,}?[.:](?=\s|$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}

/** Leads from a page of the site to another place on it. */
export function hrefTo(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to);
}

/** Resolves a relative link of a page to a path in the repository; a folder means its page. */
export function targetOf(source: string, href: string): string {
  const path = posix.normalize(posix.join(posix.dirname(source), decodeURI(href))).replace(/\/$/, "");
  return existsSync(join(root, path, "README.md")) ? posix.join(path, "README.md") : path;
}
