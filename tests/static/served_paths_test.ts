import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { fileServedAt, otherAnswerAt, servedPathOf } from "../../lib/static/served_paths.ts";

interface PathSettings {
  readonly basePath: string;
  readonly index: string | undefined;
  readonly cleanUrls: boolean;
}

const plain: PathSettings = { basePath: "/", index: "index.html", cleanUrls: false };
const clean: PathSettings = { ...plain, cleanUrls: true };
const noIndex: PathSettings = { ...plain, index: undefined };
const based: PathSettings = { ...plain, basePath: "/docs/" };

/** What is answered at `path` from a folder with these files: a file, `file also` if it is served elsewhere, or a redirect. */
function answer(path: string, settings: PathSettings, files: readonly string[]): string | undefined {
  const has = (file: string) => files.includes(file);
  const file = fileServedAt(path, settings, has);
  if (file !== undefined) return file;
  const other = otherAnswerAt(path, settings, has);
  return typeof other === "object" ? `${other.status} ${other.location}` : other && `${other} also`;
}

const site = [
  "index.html",
  "about.html",
  "a/index.html",
  "a/b.html",
  "a/b/index.html",
  "app.js",
  "a\\b.txt",
  "c%5Cd.txt",
];
const cases: readonly [settings: PathSettings, path: string, answer: string | undefined][] = [
  [plain, "/", "index.html"],
  [plain, "/index.html", "index.html also"],
  [plain, "/a/", "a/index.html"],
  [plain, "/a", "301 ./a/"],
  [plain, "/a/b", "301 ./b/"],
  [plain, "/a/b/", "a/b/index.html"],
  [plain, "/a/b.html", "a/b.html"],
  [plain, "/about", undefined],
  [plain, "/about.html/", undefined],
  [plain, "/app.js", "app.js"],
  [plain, "//app.js", undefined],
  [plain, "app.js", undefined],
  [plain, "/a%5Cb.txt", "a\\b.txt"],
  [plain, "/a\\b.txt", "a\\b.txt"],
  [plain, "/c%5Cd.txt", "c%5Cd.txt"],
  [clean, "/", "index.html"],
  [clean, "/index.html", "308 ./"],
  [clean, "/index", undefined],
  [clean, "/about", "about.html"],
  [clean, "/about.html", "308 ./about"],
  [clean, "/a", "301 ./a/"],
  [clean, "/a/b", "a/b.html"],
  [clean, "/a/b/", "a/b/index.html"],
  [clean, "/app.js", "app.js"],
  [noIndex, "/", undefined],
  [noIndex, "/a", undefined],
  [noIndex, "/a/", undefined],
  [noIndex, "/index.html", "index.html"],
  [based, "/docs/", "index.html"],
  [based, "/docs", "301 ./docs/"],
  [based, "/docs/a", "301 ./a/"],
  [based, "/docs/app.js", "app.js"],
  [based, "/app.js", undefined],
  [based, "/", undefined],
];

for (const [settings, path, expected] of cases) {
  const { basePath, index, cleanUrls } = settings;
  const how = `index ${index}, ${cleanUrls ? "clean URLs" : "plain URLs"}, at ${basePath}`;
  test(`${path} is answered with ${expected} (${how})`, () => assert.equal(answer(path, settings, site), expected));
}

test("a page goes before a file of its own name without an extension", () => {
  assert.equal(answer("/about", clean, ["about", "about.html"]), "about.html");
});

test("every file is found at the path that it is served at, unless another one is", () => {
  const name = fc.constantFrom("a", "b", "index.html", "a.html", "b.html", "index", ".html", "a\\b");
  const file = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const settings = fc.constantFrom(plain, clean, noIndex, based, { ...clean, basePath: "/x/y/" });
  fc.assert(fc.property(fc.array(file, { minLength: 1, maxLength: 8 }), settings, (files, settings) => {
    for (const each of files) {
      const path = servedPathOf(each, settings);
      const found = fileServedAt(path, settings, (file) => files.includes(file));
      assert.ok(found !== undefined, `${each} at ${path}`);
      assert.equal(servedPathOf(found, settings), path);
    }
  }));
});
