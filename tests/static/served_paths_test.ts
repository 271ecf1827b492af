import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { fileServedAt, otherAnswerAt, servedPathOf } from "../../lib/static/handler/served_paths.ts";

interface PathSettings {
  readonly basePath: string;
  readonly index: string | undefined;
  readonly cleanUrls: boolean;
}

const plain: PathSettings = { basePath: "/", index: "index.html", cleanUrls: false };
const clean: PathSettings = { ...plain, cleanUrls: true };
const noIndex: PathSettings = { ...plain, index: undefined };
const cleanNoIndex: PathSettings = { ...clean, index: undefined };
const cleanOther: PathSettings = { ...clean, index: "b.html" };
const cleanBased: PathSettings = { ...clean, basePath: "/docs/" };
const based: PathSettings = { ...plain, basePath: "/docs/" };

/** Returns the response for `path` with these files: a file, `file also` if it has another path, or a redirect. */
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
  "e\\f.html",
  "n/index/x.txt",
  "n/index.html",
  "o/index",
  "o/index.html",
  "p/index/index.html",
  "p/index.html",
  "q:r.html",
  "index.html/x.txt",
  "s.html/index.html",
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
  [clean, "/index", "308 ./"],
  [clean, "/index/", "308 ../"],
  [clean, "/about/", "308 ../about"],
  [clean, "/about//", undefined],
  [clean, "/about.html/", undefined],
  [clean, "/about/about", undefined],
  [clean, "/a/index", "308 ./"],
  [clean, "/a/index/", "308 ../"],
  [clean, "/a/index.html", "308 ./"],
  [clean, "/a/index.html/", undefined],
  [clean, "/a/b/index", "308 ./"],
  [clean, "/q:r/", "308 ../q%3Ar"],
  [clean, "/e%5Cf/", "308 ../e%5Cf"],
  [clean, "/n/index", "308 ./"],
  [clean, "/n/index/", "308 ../"],
  [clean, "/o/index", "o/index"],
  [clean, "/p/index", "301 ./index/"],
  [clean, "/p/index/", "p/index/index.html"],
  [clean, "/s.html", "301 ./s.html/"],
  [clean, "/s", undefined],
  [clean, "/s/", undefined],
  [clean, "//", undefined],
  [clean, "/app.js/", undefined],
  [plain, "/index", undefined],
  [plain, "/about/", undefined],
  [cleanNoIndex, "/index", "index.html"],
  [cleanNoIndex, "/index/", "308 ../index"],
  [cleanNoIndex, "/about/", "308 ../about"],
  [cleanNoIndex, "/", undefined],
  [cleanOther, "/a/b", "308 ./"],
  [cleanOther, "/a/b/", "308 ../"],
  [cleanOther, "/a/", "a/b.html"],
  [cleanOther, "/a/index", "a/index.html"],
  [cleanOther, "/a/index/", "308 ../index"],
  [cleanBased, "/docs/index", "308 ./"],
  [cleanBased, "/docs/about/", "308 ../about"],
  [cleanBased, "/docs", "301 ./docs/"],
  [cleanBased, "/docs/", "index.html"],
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

test("a file of the very name goes before a page, which then keeps its extension", () => {
  for (const [name, page] of [["about", "about.html"], ["app.js", "app.js.html"], ["o/index", "o/index.html"]]) {
    for (const settings of [clean, cleanNoIndex, cleanOther]) {
      assert.equal(answer(`/${name}`, settings, [name, page]), name);
      if (page !== "o/index.html" || settings !== clean) assert.equal(answer(`/${page}`, settings, [name, page]), page);
    }
  }
});

test("every file is found at the path that it is served at, unless another one is", () => {
  const name = fc.constantFrom("a", "b", "index.html", "a.html", "a.html.html", "index", ".html", "a\\b");
  const file = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const settings = fc.constantFrom(plain, clean, noIndex, based, { ...clean, basePath: "/x/y/" });
  fc.assert(fc.property(fc.array(file, { minLength: 1, maxLength: 8 }), settings, (files, settings) => {
    const has = (file: string) => files.includes(file);
    for (const each of files) {
      const path = servedPathOf(each, settings, has);
      const found = fileServedAt(path, settings, has);
      assert.ok(found !== undefined, `${each} at ${path}`);
      assert.equal(servedPathOf(found, settings, has), path);
      // Only two names with a backslash can share a path.
      if (!each.includes("\\")) assert.equal(found, each);
    }
  }));
});

/** Returns the end of the redirects from `path`; fails if they have no end, or leave the paths of this site. */
function followed(path: string, settings: PathSettings, files: readonly string[]): string | undefined {
  const has = (file: string) => files.includes(file);
  let url = new URL(encodeURI(path), "http://site.example");
  for (let steps = 0; steps < 3; steps++) {
    const decoded = decodeURIComponent(url.pathname);
    const file = fileServedAt(decoded, settings, has);
    if (file !== undefined) return file;
    const other = otherAnswerAt(decoded, settings, has);
    if (typeof other !== "object") return other;
    url = new URL(other.location, url);
    assert.equal(url.host, "site.example");
    assert.equal(fileServedAt(decodeURIComponent(url.pathname), settings, has), other.file, `${path} leads to ${url}`);
  }
  assert.fail(`${path} leads to no end`);
}

test("with clean URLs every way to write the path of a page leads to its one URL, in one step", () => {
  const name = fc.constantFrom("a", "b", "index.html", "a.html", "b.html", "index", "a:b.html", "ü.html");
  const file = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  const settings = fc.constantFrom(clean, cleanNoIndex, cleanOther, cleanBased);
  fc.assert(fc.property(fc.uniqueArray(file, { minLength: 1, maxLength: 8 }), settings, (names, settings) => {
    // Where there is a file, there is no folder.
    const files = names.filter((each) => !names.some((other) => each.startsWith(`${other}/`)));
    for (const each of files.filter((file) => file.endsWith(".html"))) {
      const has = (file: string) => files.includes(file);
      const canonical = servedPathOf(each, settings, has);
      const own = settings.basePath + each;
      for (const path of [own, own.slice(0, -".html".length), `${own.slice(0, -".html".length)}/`, canonical]) {
        followed(path, settings, files);
      }
      assert.equal(followed(own, settings, files), fileServedAt(canonical, settings, has));
    }
  }));
});
