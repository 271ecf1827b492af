import assert from "node:assert/strict";
import { readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { manifestName, precompress, type PrecompressOptions } from "../../lib/precompress/mod.ts";
import { createStaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";

/** Options that compress nothing, for speed. */
const quick: PrecompressOptions = { minSize: 1_000_000 };
const script = "turn(mill);\n".repeat(200);
/** A tree where only the first file's name implies that it is immutable. */
const tree = { "assets/index-BuI5BPdA.js": script, "assets/Documents.js": script, "x.txt": script };

/** Returns the paths that are answered as immutable. */
async function immutableIn(folder: string, options: StaticHandlerOptions = {}): Promise<string[]> {
  await using site = await createStaticHandler(folder, { onWarning() {}, ...options });
  const found: string[] = [];
  for (const path of [...Object.keys(tree), "late-BuI5BPdB.js"]) {
    const { headers } = await site.fetch(new Request(`http://site.example/${path}`));
    if (headers.get("cache-control")?.includes("immutable")) found.push(path);
  }
  return found;
}

test("what the manifest says is immutable comes before names, and the option before both", () =>
  inFolder(async (folder) => {
    await writeTree(folder, tree);
    await precompress(folder, quick);
    assert.deepEqual(await immutableIn(folder), ["assets/index-BuI5BPdA.js"]);
    await precompress(folder, { ...quick, immutable: ["assets/Doc*", "x.txt"] });
    assert.deepEqual(await immutableIn(folder), ["assets/Documents.js", "x.txt"]);
    assert.deepEqual(await immutableIn(folder, { immutable: "assets/index-*" }), ["assets/index-BuI5BPdA.js"]);
    assert.deepEqual(await immutableIn(folder, { immutable: false }), []);
    await precompress(folder, { ...quick, immutable: [] });
    assert.deepEqual(await immutableIn(folder), []);
  }));

test("a file that is not as the manifest says, or that it does not know, is revalidated", () =>
  inFolder(async (folder) => {
    await writeTree(folder, tree);
    await precompress(folder, { ...quick, immutable: ["assets/**"] });
    await writeTree(folder, { "assets/Documents.js": `${script}// changed`, "late-BuI5BPdB.js": script });
    assert.deepEqual(await immutableIn(folder), ["assets/index-BuI5BPdA.js"]);
  }));

test("a manifest in another form, or with nonsense in it, says the same", () =>
  inFolder(async (folder) => {
    await writeTree(folder, tree);
    await precompress(folder, { ...quick, immutable: ["assets/**"] });
    const path = join(folder, manifestName);
    const manifest = JSON.parse(await readFile(path, "utf8"));
    manifest.files["x.txt"].immutable = "yes";
    await writeFile(path, JSON.stringify(manifest, null, 2));
    const later = Date.now() / 1000 + 5;
    await utimes(path, later, later);
    assert.deepEqual(await immutableIn(folder), ["assets/index-BuI5BPdA.js", "assets/Documents.js"]);
  }));

test("a file that the manifest calls immutable is a dictionary for its next version", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "assets/main-CtnwHaal.js": script, "assets/Documents.js": script });
    await precompress(folder, { formats: ["gzip"], jobs: 1, immutable: ["assets/main-*"] });
    await using site = await createStaticHandler(folder);
    const { headers } = await site.fetch(new Request("http://site.example/assets/main-CtnwHaal.js"));
    assert.equal(headers.get("use-as-dictionary"), 'match="/assets/main-*.js"');
  }));
