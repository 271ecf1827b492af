import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { decompress } from "../../lib/codecs/mod.ts";
import { cleanPrecompressed, type Manifest, precompress, readManifest } from "../../lib/precompress/mod.ts";
import { pagesOfSite } from "./pages.ts";
import { contents, inFolder, listed, writeTree } from "../support/folders.ts";

const QUICK = { formats: ["brotli", "zstd"] as const, levels: { brotli: 5, zstd: 3 }, jobs: 1 };
const WITH = { ...QUICK, siteDictionary: true };

/** The number of pages of the site. */
const COUNT = 6;

/** Returns the path and record of the dictionary in a folder. */
async function dictionaryIn(folder: string): Promise<[path: string, record: Manifest["files"][string]]> {
  const { files } = (await readManifest(folder))!;
  const found = Object.entries(files).filter(([, { madeOf }]) => madeOf !== undefined);
  assert.equal(found.length, 1);
  return found[0]!;
}

async function bytesOf(...parts: string[]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(join(...parts)));
}

let made: Promise<string> | undefined;

/** Returns a folder with the site, precompressed with a dictionary once for all tests. */
function precompressed(): Promise<string> {
  return made ??= (async () => {
    const site = await mkdtemp(join(tmpdir(), "millrace-site-"));
    await writeTree(site, pagesOfSite({ count: COUNT }));
    await precompress(site, WITH);
    return site;
  })();
}

after(async () => made && await rm(await made, { recursive: true }));

/** Runs `use` in a copy of the site that was precompressed with a dictionary. */
function inPrecompressed(use: (folder: string) => Promise<void>): Promise<void> {
  return inFolder(async (folder) => {
    await cp(await precompressed(), join(folder, "site"), { recursive: true, preserveTimestamps: true });
    await use(join(folder, "site"));
  });
}

function inSite(use: (folder: string) => Promise<void>, count = COUNT): Promise<void> {
  return inFolder(async (folder) => {
    await writeTree(join(folder, "site"), pagesOfSite({ count }));
    await use(join(folder, "site"));
  });
}

test("siteDictionary writes one dictionary and small deltas of all pages against it", () =>
  inSite(async (site) => {
    await writeTree(site, { "app.js": "const a = 1;\n".repeat(300) });
    const report = await precompress(site, WITH);
    assert.deepEqual(report.problems, []);
    const [path, record] = await dictionaryIn(site);
    assert.match(path, /^site-dictionary-[0-9a-f]{16}\.dict$/);
    assert.ok(path.includes(record.sha256.slice(0, 16)), "the name holds the hash");
    assert.deepEqual(report.siteDictionary, { path, size: record.size });
    const dictionary = await bytesOf(site, path);
    const { files } = (await readManifest(site))!;
    for (const page of Object.keys(pagesOfSite({ count: COUNT }))) {
      assert.equal(files[page]!.siteDictionary, record.sha256);
      for (const format of ["dcb", "dcz"] as const) {
        const delta = await bytesOf(site, `${page}.site.${format}`);
        const plain = files[page]!.variants[format === "dcb" ? "brotli" : "zstd"]!.size!;
        assert.ok(delta.length < 0.6 * plain, `${page}: ${delta.length} of ${plain} bytes`);
        assert.deepEqual(await decompress(delta, { format, dictionary }), await bytesOf(site, page));
      }
    }
    assert.ok(!(await listed(site)).some((name) => name.startsWith("app.js.site")), "only pages have such deltas");
  }));

test("the next run finds nothing to do, also by --check; a page that changed is done alone", () =>
  inPrecompressed(async (site) => {
    const before = await contents(site);
    for (const dryRun of [true, false]) {
      const { compressed, removed, unchanged, files } = await precompress(site, { ...WITH, dryRun });
      assert.deepEqual([compressed, removed, unchanged, files], [[], [], COUNT, COUNT]);
    }
    assert.deepEqual(await contents(site), before);
    await writeTree(site, { "docs/3.html": pagesOfSite({ count: COUNT, edition: "second" })["docs/3.html"]! });
    assert.deepEqual((await precompress(site, WITH)).compressed, ["docs/3.html"]);
    assert.deepEqual((await precompress(site, WITH)).compressed, []);
  }));

test("without the option all that it made goes, and clean removes it, too", () =>
  inSite(async (site) => {
    await precompress(site, QUICK);
    const without = await contents(site);
    await precompress(site, WITH);
    await precompress(site, QUICK);
    assert.deepEqual(await contents(site), without);
    await precompress(site, WITH);
    const { problems } = await cleanPrecompressed(site);
    assert.deepEqual(problems, []);
    assert.deepEqual(await listed(site), Object.keys(pagesOfSite({ count: COUNT })).sort());
  }));

test("a dictionary is kept while it does about as well, and replaced once it does not or by force", () =>
  inPrecompressed(async (site) => {
    const [first] = await dictionaryIn(site);
    await writeTree(site, pagesOfSite({ count: COUNT, edition: "second ".repeat(5) }));
    await precompress(site, WITH);
    assert.equal((await dictionaryIn(site))[0], first);
    await precompress(site, { ...WITH, force: true });
    const [forced] = await dictionaryIn(site);
    assert.notEqual(forced, first);
    const others = Object.entries(pagesOfSite({ count: COUNT })).map(([path, html]) => [path, html.toUpperCase()]);
    await writeTree(site, Object.fromEntries(others));
    const { removed, problems } = await precompress(site, WITH);
    assert.deepEqual(problems, []);
    assert.ok(removed.includes(forced) && removed.includes(`${forced}.br`));
    assert.notEqual((await dictionaryIn(site))[0], forced);
  }));

test("a new build takes the dictionary of the previous deploy over, and has deltas against its pages, too", () =>
  inSite(async (site) => {
    const previous = `${site}-deployed`;
    await cp(await precompressed(), previous, { recursive: true, preserveTimestamps: true });
    await writeTree(site, pagesOfSite({ count: COUNT, edition: "second" }));
    await precompress(site, { ...WITH, previous });
    const [path] = await dictionaryIn(site);
    assert.equal(path, (await dictionaryIn(previous))[0]);
    const names = await listed(site);
    for (const delta of ["dcb", "dcz", "site.dcb", "site.dcz"]) assert.ok(names.includes(`index.html.${delta}`), delta);
    const { variants } = (await readManifest(site))!.files["index.html"]!;
    assert.ok(variants.dcb!.size! < variants["site-dcb"]!.size!);
    assert.deepEqual((await precompress(site, { ...WITH, previous })).compressed, []);
  }));

test("a copy gets the dictionary, and the folder stays as it is", () =>
  inSite(async (site) => {
    const before = await contents(site);
    await precompress(site, { ...WITH, out: `${site}-out` });
    assert.deepEqual(await contents(site), before);
    const [path] = await dictionaryIn(`${site}-out`);
    assert.ok((await listed(`${site}-out`)).includes("docs/5.html.site.dcb"));
    assert.deepEqual((await precompress(site, { ...WITH, out: `${site}-out` })).compressed, []);
    await precompress(site, { ...QUICK, out: `${site}-out` });
    assert.ok(!(await listed(`${site}-out`)).some((name) => name.includes("site.dc") || name === path));
  }));

test("there is no dictionary of pages that share nothing, of one page, or of what is left out", () =>
  inSite(async (site) => {
    assert.equal((await precompress(site, { ...WITH, include: ["index.html"] })).siteDictionary, undefined);
    assert.equal((await precompress(site, { ...WITH, exclude: ["**/*.html"] })).siteDictionary, undefined);
    const strangers = Array.from({ length: 6 }, (_, i) => [
      `${i}.html`,
      Array.from({ length: 900 }, (_, j) => String.fromCharCode(0x4e00 + i * 900 + j)).join("\n"),
    ]);
    await writeTree(join(site, "../strangers"), Object.fromEntries(strangers));
    const { siteDictionary, problems } = await precompress(join(site, "../strangers"), WITH);
    assert.deepEqual([siteDictionary, problems], [undefined, []]);
  }));

test("siteDictionary and previous without brotli and zstd are refused", () =>
  inSite(async (site) => {
    for (const [name, value] of [["siteDictionary", true], ["previous", join(site, "../former")]] as const) {
      await assert.rejects(precompress(site, { [name]: value, formats: ["gzip"] }), {
        name: "TypeError",
        message: `${name} is of no use without brotli or zstd: name one of them among formats`,
      });
    }
    await precompress(site, { ...WITH, formats: ["zstd"] });
    const names = await listed(site);
    assert.ok(names.includes("index.html.site.dcz") && !names.includes("index.html.site.dcb"));
  }, 6));

test("somebody's file or folder with the dictionary's name stays, and is told", () =>
  inPrecompressed(async (site) => {
    const [path] = await dictionaryIn(site);
    await cleanPrecompressed(site);
    await mkdir(join(site, path));
    const { problems, siteDictionary } = await precompress(site, WITH);
    assert.deepEqual(problems.map((problem) => problem.path), [path]);
    assert.equal(siteDictionary, undefined);
    assert.ok((await listed(site)).includes("index.html.br"));
    assert.ok(!(await listed(site)).some((name) => name.includes(".site.dc")));
    await rm(join(site, path), { recursive: true });
    await precompress(site, WITH);
    await writeFile(join(site, path), "somebody's own");
    const replaced = await precompress(site, WITH);
    assert.equal(await readFile(join(site, path), "latin1"), "somebody's own");
    assert.ok(replaced.problems.length > 0 && replaced.problems.every((problem) => problem.path === path));
    const copied = await precompress(site, { ...WITH, out: `${site}-out` });
    assert.deepEqual(copied.problems.map((problem) => problem.path), [path]);
    assert.equal(await readFile(join(`${site}-out`, path), "latin1"), "somebody's own");
  }));

test("after the manifest was lost the dictionary is used as it is, and stays with the clean", () =>
  inPrecompressed(async (site) => {
    const [path] = await dictionaryIn(site);
    const before = await contents(site);
    await rm(join(site, ".millrace.json"));
    const { problems } = await precompress(site, WITH);
    assert.deepEqual(problems, []);
    assert.equal((await dictionaryIn(site))[0], path);
    const after = await contents(site);
    for (const [name, bytes] of Object.entries(before)) {
      if (!name.startsWith(".")) assert.equal(after[name], bytes, name);
    }
    assert.deepEqual((await precompress(site, WITH)).compressed, []);
    await cleanPrecompressed(site);
    assert.ok((await listed(site)).includes(path), "nobody can say any more whose it is");
  }));

test("a run that was stopped in its midst leaves what the next one goes on from", () =>
  inSite(async (site) => {
    const stop = new AbortController();
    const stopped = precompress(site, {
      ...WITH,
      signal: stop.signal,
      onProgress: ({ bytesDone }) => {
        if (bytesDone > 40_000) stop.abort(new Error("enough"));
      },
    });
    await assert.rejects(stopped, /enough/);
    const names = await listed(site);
    const [path] = names.filter((name) => name.endsWith(".dict"));
    assert.ok(path !== undefined && names.includes(".millrace.journal"));
    const time = (await stat(join(site, path))).mtimeMs;
    const { problems } = await precompress(site, WITH);
    assert.deepEqual(problems, []);
    assert.equal((await dictionaryIn(site))[0], path);
    assert.equal((await stat(join(site, path))).mtimeMs, time);
    const whole = await contents(site);
    await cleanPrecompressed(site);
    await precompress(site, WITH);
    assert.deepEqual(await contents(site), whole);
  }));
