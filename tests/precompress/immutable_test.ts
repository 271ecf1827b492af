import assert from "node:assert/strict";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { precompress, type PrecompressOptions, readManifest } from "../../lib/precompress/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";

/** Options that compress nothing, for speed; `gzip` compresses to one format. */
const quick: PrecompressOptions = { minSize: 1_000_000 };
const gzip: PrecompressOptions = { formats: ["gzip"], levels: { gzip: 1 }, jobs: 1 };
const script = "turn(mill);\n".repeat(200);
const tree = {
  "assets/main.js": script,
  "assets/tiny.js": "turn()",
  "index.html": `<p>${script}`,
  "app.js.br": "other",
};

/** Returns the `immutable` flags in the manifest of `folder`, by path. */
async function immutableIn(folder: string): Promise<Record<string, boolean | undefined>> {
  const { files } = (await readManifest(folder))!;
  return Object.fromEntries(Object.entries(files).map(([path, { immutable }]) => [path, immutable]));
}

test("the manifest says of every file whether it is immutable, by globs or a function", () =>
  inFolder(async (folder) => {
    await writeTree(folder, tree);
    await precompress(folder, gzip);
    assert.deepEqual(new Set(Object.values(await immutableIn(folder))), new Set([undefined]));
    const expected = { "app.js.br": false, "assets/main.js": true, "assets/tiny.js": true, "index.html": false };
    const report = await precompress(folder, { ...gzip, immutable: ["assets/**"] });
    assert.deepEqual(await immutableIn(folder), expected);
    assert.deepEqual(report.compressed, [], "nothing is compressed again for that");
    await precompress(folder, { ...quick, immutable: (path) => path.startsWith("assets/") });
    assert.deepEqual(await immutableIn(folder), expected);
    const other = { ...expected, "assets/tiny.js": false };
    await precompress(folder, { ...quick, immutable: (path) => path === "assets/tiny.js" ? false : undefined });
    assert.deepEqual(await immutableIn(folder), other, "where nothing is returned, it stays");
    await precompress(folder, { ...quick, immutable: [] });
    assert.deepEqual(new Set(Object.values(await immutableIn(folder))), new Set([false]));
  }));

test("a run without the option keeps what is known of files that did not change, also into a copy", () =>
  inFolder(async (folder) => {
    const [dist, copy] = [join(folder, "dist"), join(folder, "copy")];
    await writeTree(dist, tree);
    await precompress(dist, { ...quick, immutable: ["assets/**"] });
    await appendFile(join(dist, "assets/main.js"), "// changed");
    await writeFile(join(dist, "assets/new.js"), script);
    await precompress(dist, quick);
    const expected = { "assets/main.js": undefined, "assets/new.js": undefined, "assets/tiny.js": true };
    assert.deepEqual(await immutableIn(dist), { "app.js.br": false, ...expected, "index.html": false });
    await precompress(dist, { ...quick, out: copy });
    assert.deepEqual(await immutableIn(copy), { "app.js.br": false, ...expected, "index.html": false });
    await precompress(dist, { ...quick, out: copy, immutable: ["**/main.js"] });
    assert.equal((await immutableIn(copy))["assets/main.js"], true);
    assert.equal((await immutableIn(copy))["assets/tiny.js"], false);
  }));

test("an immutable that is no list of globs is refused, and a function that throws is the problem of its file", () =>
  inFolder(async (folder) => {
    await writeTree(folder, tree);
    const wrong = { ...quick, immutable: "assets/**" as unknown as string[] };
    await assert.rejects(precompress(folder, wrong), {
      name: "TypeError",
      message: 'immutable must be a list of globs or a function, not "assets/**"',
    });
    const { problems } = await precompress(folder, {
      ...quick,
      immutable: (path) => {
        if (path === "index.html") throw new Error("no idea");
        return true;
      },
    });
    assert.deepEqual(problems, [{ path: "index.html", message: "no idea" }]);
    assert.equal((await immutableIn(folder))["assets/main.js"], true);
  }));

test("an immutable() that gives neither true, false nor undefined is a problem: a promise would count as true", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "main.js": script });
    for (const verdict of [Promise.resolve(false), 0, "yes", null]) {
      const { problems } = await precompress(folder, { ...gzip, immutable: () => verdict as never });
      assert.match(
        problems.map(({ message }) => message).join(),
        /^what immutable\(\) gives for main\.js must be true, false/,
      );
    }
  }));
