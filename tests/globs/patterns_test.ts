import assert from "node:assert/strict";
import { cp, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { build } from "esbuild";
import { precompress as plugin } from "../../lib/build/esbuild.ts";
import { matcherOf } from "../../lib/globs/mod.ts";
import { precompress, type PrecompressOptions } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { mainHere } from "../cli/main_here.ts";
import { pagesOfSite } from "../precompress/pages.ts";
import { needs } from "../support/needs.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";

const QUICK = { formats: ["brotli"], levels: { brotli: 5 }, jobs: 1 } as const;
const FILES = { "index.html": "<p>The mill turns.</p>\n".repeat(90), "assets/app.js": "turn();\n".repeat(200) };

test("a pattern that ends in a slash or has no wildcard also means what is below the folder that it names", async () => {
  const paths = ["members", "members/a.html", "members/b/c.html", "members.html", "de/members/a.html"];
  const chosen = async (pattern: string): Promise<string> => {
    const matches = await matcherOf("exclude", [pattern]);
    return paths.map((path) => matches(path) ? "x" : "-").join("");
  };
  for (const pattern of ["members/", "./members/", "/members/", "/members/**", "members", "/members"]) {
    assert.equal(await chosen(pattern), "xxx--", pattern);
  }
  assert.equal(await chosen("**/members/"), "xxx-x");
  assert.equal(await chosen("*"), "x--x-", "a pattern with a wildcard is for the whole path");
  assert.equal(await chosen("members.html"), "---x-");
  assert.equal(await chosen("dist/members/**"), "-----");
});

test("a pattern that begins with ! is refused, as it would not take anything out of the others", async () => {
  for (const pattern of ["!members/**", "!members", "!!members", "!*.map", "!"]) {
    const message = `include ${JSON.stringify(pattern)} is no pattern: ` +
      "a leading ! takes nothing out; use exclude, or a group: !(members)/**";
    for (const patterns of [[pattern], ["**/*.html", pattern]]) {
      await assert.rejects(matcherOf("include", patterns), { name: "TypeError", message });
    }
  }
  for (const pattern of ["\\!read", "[!]read", "./!read", "a/!read", "!(members)", "!(?!members)"]) {
    const matches = await matcherOf("include", [pattern]);
    assert.equal(matches("members"), false, pattern);
  }
  const matches = await matcherOf("include", ["!(members)/**"]);
  assert.deepEqual(["members/a", "public/a", "!read/a"].map(matches), [false, true, true]);
  assert.ok((await matcherOf("include", ["\\!read"]))("!read"));
});

const NONE = ["nomatch/**", "*.nomatch", "dist/assets/**", "Assets/**"];

test("each option with patterns names those that match no file, and no others", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { ...FILES, ".hidden/x": "" });
    const told = (option: string): RegExp[] =>
      NONE.map((pattern) => new RegExp(`^${RegExp.escape(`${option} "${pattern}" matches no file: `)}`));
    const matching = ["assets/", "*.html", "index.html", "**"];
    for (const option of ["include", "exclude", "immutable"] as const) {
      const options: PrecompressOptions = { ...QUICK, [option]: [...NONE, ...matching, ".hidden"] };
      const { warnings, problems } = await precompress(folder, options);
      const expected = option === "exclude" ? told(option) : [...told(option), /^\w+ "\.hidden" matches/];
      assert.equal(warnings.length, expected.length, warnings.join("\n"));
      for (const [i, each] of expected.entries()) assert.match(warnings[i], each);
      assert.deepEqual(problems, []);
    }
    assert.deepEqual((await precompress(folder, { ...QUICK, immutable: () => undefined })).warnings, []);
    const ended = await mainHere([folder, "--quiet", "--formats", "gzip", "--exclude", "nomatch/**"]);
    assert.equal(ended.status, 0);
    assert.match(ended.stderr, /^millrace: exclude "nomatch\/\*\*" matches no file: .*\n$/);
  }));

test("the static handler names what options name and is not there, once", () =>
  inFolder(async (folder) => {
    await writeTree(folder, FILES);
    const warningsOf = async (options: StaticHandlerOptions): Promise<string[]> => {
      const told: string[] = [];
      const site = await createStaticHandler(folder, { ...options, onWarning: ({ message }) => told.push(message) });
      await site.reload();
      await site.close();
      return told;
    };
    for (const pattern of NONE) {
      assert.match((await warningsOf({ immutable: pattern })).join("\n"), /^.* matches no file: .*$/);
    }
    assert.match((await warningsOf({ immutable: /^pub/g })).join("\n"), /^immutable \/\^pub\/g matches no file$/);
    assert.deepEqual(await warningsOf({ index: "index" }), ['index "index" is the name of no file']);
    assert.deepEqual(await warningsOf({ notFound: "./404.htm" }), ['notFound "./404.htm" is no file']);
    for (const immutable of [undefined, false, "assets", "assets/", /app/] as const) {
      assert.deepEqual(await warningsOf({ ...immutable !== undefined && { immutable }, index: "app.js" }), []);
    }
  }));

test("the plugins name patterns that match no file, and a tool's own files are no pattern", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "app.js": `console.log(${JSON.stringify("x".repeat(2000))});` });
    const warningsOf = async (options: PrecompressOptions): Promise<string[]> => {
      const plugins = [plugin({ ...QUICK, ...options })];
      const entryPoints = [join(folder, "app.js")];
      const built = await build({ entryPoints, outdir: join(folder, "out"), logLevel: "silent", plugins });
      return built.warnings.map(({ text }) => text.replace(/:.*/, ""));
    };
    assert.deepEqual(await warningsOf({}), []);
    assert.deepEqual(await warningsOf({ immutable: ["assets/**", "*.js"], exclude: ["members/"] }), [
      'exclude "members/" matches no file',
      'immutable "assets/**" matches no file',
    ]);
  }));

/** A site whose members' pages share a text that others lack. */
async function writeMembers(folder: string): Promise<void> {
  const secret = `<p>${"the members' secret is the wheel ".repeat(8)}</p>`;
  const pages = Object.entries(pagesOfSite({ count: 6 })).map(([path, html], i) => {
    return i < 3 ? [path, html] : [`members/${i}.html`, html + secret];
  });
  await writeTree(folder, Object.fromEntries(pages));
}

async function dictionaryIn(folder: string): Promise<string> {
  const path = (await listed(folder)).find((each) => each.endsWith(".dict"));
  return path === undefined ? "" : await readFile(join(folder, path), "latin1");
}

test("no dictionary is made if a pattern that should keep pages out of it matches none", () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    await writeMembers(site);
    const before = await listed(site);
    const options = { ...QUICK, siteDictionary: true };
    for (
      const pattern of [
        "member/",
        "/Members/**",
        "site/members/**",
        "**/secret",
        "*/a.ht*",
        "**/*.private",
        "*.{map,xhtml}",
      ]
    ) {
      const message = /^the site dictionary is public, and exclude ".*" matches no file: /;
      await assert.rejects(precompress(site, { ...options, exclude: ["members/3.html", pattern] }), { message });
      assert.deepEqual(await listed(site), before);
    }
    const { warnings, siteDictionary } = await precompress(site, {
      ...options,
      exclude: ["members/", "**/*.{map,txt}", "robots.txt", "**/sw.js"],
    });
    assert.equal(warnings.length, 3);
    assert.ok(siteDictionary);
    assert.doesNotMatch(await dictionaryIn(site), /secret/);
  }));

test("a dictionary of pages that are excluded since is not kept, neither this folder's nor the previous deploy's", () =>
  inFolder(async (folder) => {
    const [site, next] = [join(folder, "site"), join(folder, "next")];
    await writeMembers(site);
    const options = { ...QUICK, siteDictionary: true };
    await cp(site, next, { recursive: true });
    await precompress(site, options);
    assert.match(await dictionaryIn(site), /secret/);
    await precompress(next, { ...options, previous: site, exclude: ["members/"] });
    await precompress(site, { ...options, exclude: ["members/"] });
    for (const each of [site, next]) assert.doesNotMatch(await dictionaryIn(each), /secret/);
  }));

test("a pattern for what cannot be read has matched", { skip: needs("links") }, () =>
  inFolder(async (folder) => {
    await writeTree(folder, FILES);
    await symlink("nowhere", join(folder, "private"));
    const { warnings, problems } = await precompress(folder, { ...QUICK, exclude: ["private/"] });
    assert.deepEqual([warnings, problems], [[], []]);
  }));
