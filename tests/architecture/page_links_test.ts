import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const written = globSync(["bench/README.md", "tests/README.md", "tests/examples/**/*.md", "lib/**/*.md"], {
  cwd: root,
});
const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", ...written];

/** Returns the text of a page without its blocks of code. */
function proseOf(path: string): string {
  return readFileSync(path, "utf8").replace(/^```[^]*?^```$/gm, "");
}

/** Returns the names by which a page's headings can be linked to, as GitHub makes them. */
function anchorsOf(path: string): Set<string> {
  const headings = [...proseOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading);
  return new Set(headings.map((heading) => {
    return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");
  }));
}

/** Returns the problem of a relative link; undefined if the target exists. */
function faultOf(page: string, link: string): string | undefined {
  const [path, anchor] = link.split("#");
  const target = path === "" ? join(root, page) : join(root, dirname(page), path);
  if (!existsSync(target)) return `there is no ${relative(root, target)}`;
  if (!anchor || !target.endsWith(".md") || anchorsOf(target).has(anchor)) return undefined;
  return `${relative(root, target)} has no heading #${anchor}`;
}

test("every relative link of the pages leads to a file, and to a heading of it", () => {
  const faults: string[] = [];
  for (const page of pages) {
    for (const [, link] of proseOf(join(root, page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const fault = faultOf(page, link);
      if (fault !== undefined) faults.push(`${page}: ${link}: ${fault}`);
    }
  }
  assert.deepEqual(faults, []);
});

test("every path that ARCHITECTURE.md names is there", () => {
  const paths = [...proseOf(join(root, "ARCHITECTURE.md")).matchAll(/`((?:lib|tests|bench|wasm)\/[^`\s]*)/g)]
    .map(([, path]) => path).filter((path) => !/[*]|NAME/.test(path));
  assert.ok(paths.length > 50);
  assert.deepEqual(paths.filter((path) => !existsSync(join(root, path))), []);
});

/** The most words that each page of the project has, without its tables and code. */
const MOST_WORDS = { "CHANGELOG.md": 700, "CONTRIBUTING.md": 900, "ARCHITECTURE.md": 2500 };

test("no page of a part has more than 1,500 words beside its tables and code, nor a page of the project those of the table", () => {
  const parts = globSync("lib/**/*.md", { cwd: root }).map((page) => [page, 1500] as const);
  const long = [...parts, ...Object.entries(MOST_WORDS)].flatMap(([page, most]) => {
    const prose = proseOf(join(root, page)).replace(/^\|.*$|<!--[^]*?-->/gm, "");
    const { length } = prose.match(/\S*\w\S*/g) ?? [];
    return length > most ? [`${page}: ${length}`] : [];
  });
  assert.deepEqual(long, []);
});
