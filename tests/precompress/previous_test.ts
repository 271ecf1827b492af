import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, readFile, rm, symlink, utimes } from "node:fs/promises";
import { join, relative } from "node:path";
import process from "node:process";
import test from "node:test";
import { decompress } from "../../lib/codecs/mod.ts";
import { manifestName, precompress, readManifest } from "../../lib/precompress/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { withoutHash } from "../../lib/precompress/tree_files.ts";
import { concatenated, sourceText } from "../support/bytes.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";

test("withoutHash() sees the hash part of a name, and no hash where there is none", () => {
  const cases: Record<string, string> = {
    "assets/app.4f3a9c1e.js": "assets/app.*.js",
    "assets/index-BzX9Qf3a.css": "assets/index-*.css",
    "chunk-3LQZ7T2M.js": "chunk-*.js",
    "chunk-QWERTYUI.js": "chunk-*.js",
    "_astro/hoisted.DkX3_aB-.js": "_astro/hoisted.*.js",
    "main.0123456789abcdef0123.css": "main.*.css",
    "index.html": "index.html",
    "react-dom-client.production.js": "react-dom-client.production.js",
    "bootstrap.min.css": "bootstrap.min.css",
    "v1.2.3/app.js": "v1.2.3/app.js",
    "4f3a9c1e/app.js": "4f3a9c1e/app.js",
  };
  for (const [path, pattern] of Object.entries(cases)) assert.equal(withoutHash(path), pattern);
});

test("precompress() with previous writes deltas against the former version, whatever its hash part", () =>
  inFolder(async (folder) => {
    const former = sourceText(60_000, 1);
    const next = concatenated([former.subarray(0, 20_000), sourceText(400, 2), former.subarray(20_000)]);
    const [before, after] = [join(folder, "before"), join(folder, "after")];
    await writeTree(before, { "app.11111111a.js": former, "same.css": "a { b: c }\n".repeat(500), "tiny.css": "a{}" });
    await writeTree(after, {
      "app.22222222b.js": next,
      "same.css": "a { b: c }\n".repeat(500),
      "new.js": sourceText(9000, 3),
    });
    await precompress(after, { previous: before });
    const manifest = await readManifest(after);
    const { dictionary, variants } = manifest!.files["app.22222222b.js"]!;
    assert.deepEqual(dictionary, {
      path: "app.11111111a.js",
      sha256: createHash("sha256").update(former).digest("hex"),
      match: "app.*.js",
    });
    for (const format of ["dcb", "dcz"] as const) {
      const delta = await readFile(join(after, `app.22222222b.js.${format}`));
      assert.ok(delta.length * 5 < variants.gzip!.size!);
      assert.deepEqual(await decompress(delta, { format, dictionary: former }), next);
    }
    assert.ok(!(await listed(after)).some((path) => path.startsWith("new.js.dc")), "no former version, no delta");
    assert.equal(manifest!.files["same.css"]!.dictionary, undefined, "nobody can use a delta against the same content");
    assert.deepEqual((await precompress(after, { previous: before })).compressed, []);
    const without = await precompress(after);
    assert.ok(without.removed.includes("app.22222222b.js.dcb"), "without the former deploy its deltas go");
  }));

test("with several previous deploys, clients of each get a delta, once for each version, and none that is against another", () =>
  inFolder(async (folder) => {
    const deploys = [1, 2, 3, 4].map((i) => join(folder, `deploy-${i}`));
    const versions = [1, 2, 3, 4].map((i) =>
      concatenated([sourceText(20_000, 1), sourceText(200 * i, i), sourceText(20_000, 9)])
    );
    for (const [i, deploy] of deploys.entries()) {
      const page = versions[i === 1 ? 2 : i]!; // the second and the third deploy have the same page
      await writeTree(deploy, { [`app.${i}1111111a.js`]: versions[i]!, "page.html": page });
    }
    const [now, ...previous] = deploys.toReversed().map((deploy) => relative(process.cwd(), deploy));
    const options = { levels: { brotli: 5, zstd: 3, gzip: 1 }, jobs: 1, formats: ["brotli", "zstd"] } as const;
    const report = await precompress(now!, { ...options, previous });
    assert.deepEqual(report.problems, []);
    const deltas = (await listed(now!)).filter((path) => path.endsWith(".dcb"));
    const of = (path: string, endings: string[]) => endings.map((ending) => `${path}.${ending}`);
    const script = "app.31111111a.js";
    assert.deepEqual(deltas, [...of(script, ["2.dcb", "3.dcb", "dcb"]), ...of("page.html", ["2.dcb", "dcb"])]);
    await using site = await createStaticHandler(now!, {
      onWarning: ({ path, message }) => assert.fail(`${path}: ${message}`),
    });
    for (const [i, dictionary] of versions.slice(0, 3).entries()) {
      for (const [path, format] of [[script, "dcb"], [script, "dcz"], ["page.html", "dcb"]] as const) {
        const hash = createHash("sha256").update(dictionary).digest("base64");
        const headers = { "accept-encoding": `gzip, br, ${format}`, "available-dictionary": `:${hash}:` };
        const response = await site.fetch(new Request(`http://site.example/${path}`, { headers }));
        const isKnown = path === script || i !== 1;
        assert.equal(response.headers.get("content-encoding"), isKnown ? format : "br", `${path} ${i}`);
        if (!isKnown) continue;
        const delta = new Uint8Array(await response.arrayBuffer());
        assert.deepEqual(await decompress(delta, { format, dictionary }), versions[3]);
        assert.ok(delta.length < 2000, String(delta.length));
      }
    }
    assert.deepEqual((await precompress(now!, { ...options, previous })).compressed, []);
    const { removed } = await precompress(now!, { ...options, previous: previous.slice(0, 1) });
    assert.deepEqual(removed.filter((path) => path.endsWith("dcb")), [
      ...of(script, ["2.dcb", "3.dcb"]),
      "page.html.2.dcb",
    ]);
    await assert.rejects(precompress(now!, { previous: [...previous, folder] }), {
      name: "RangeError",
      message: "previous names 4 folders: use the latest 3",
    });
  }));

test("a previous version that cannot be read costs a delta, which is told with its name, and nothing else", () =>
  inFolder(async (folder) => {
    const [before, after] = [join(folder, "before"), join(folder, "after")];
    const files = { "app.js": sourceText(12_000, 1), "lib.js": sourceText(9000, 2) };
    await writeTree(after, files);
    await writeTree(before, { "app.js": files["lib.js"], "lib.js": files["app.js"] });
    await precompress(after, { formats: ["zstd"] });
    const own = await listed(after);
    const { problems, removed } = await precompress(after, {
      formats: ["zstd"],
      previous: before,
      // The call for app.js, which is planned first, removes the previous deploy: lib.js is then not even hashed there.
      immutable: (path) => path === "app.js" && rmSync(before, { recursive: true }) === undefined,
    });
    assert.deepEqual(problems.map(({ path }) => path), ["app.js", "lib.js"]);
    for (const { path, message } of problems) {
      assert.ok(message.includes(`there is no delta against ${join(before, path)}: it vanished`), message);
    }
    assert.deepEqual(removed, []);
    assert.deepEqual(await listed(after), own);
  }));

test("with retain, previous is a folder of deploys: the latest are taken, but never what is written to", () =>
  inFolder(async (folder) => {
    const deploys = join(folder, "deploys");
    const options = { levels: { brotli: 5 }, jobs: 1, formats: ["brotli"], previous: deploys } as const;
    const text = (i: number) => concatenated([sourceText(9000, 1), sourceText(300, i), sourceText(9000, 2)]);
    const names = ["9", "10", "b", "a"]; // the oldest first; of the same time the later name counts as newer
    for (const [i, name] of names.entries()) {
      await writeTree(join(deploys, name), { "app.js": text(10 + i), "assets/x.css": "p{}" });
      const at = 1_700_000_000 + (i < 2 ? 0 : i);
      await utimes(join(deploys, name), at, at);
    }
    await writeTree(deploys, { "README.md": "of deploys", ".git/HEAD": "ref" });
    const now = join(deploys, "now");
    await writeTree(now, { "app.js": text(99) });
    await symlink("now", join(deploys, "current"), "junction");
    const deltasFor = async (retain: number): Promise<(string | undefined)[]> => {
      const { problems } = await precompress(now, { ...options, retain });
      assert.deepEqual(problems, []);
      const { dictionary, olderDictionaries = [] } = (await readManifest(now))!.files["app.js"]!;
      const deployOf = new Map(names.map((name, i) => [createHash("sha256").update(text(10 + i)).digest("hex"), name]));
      return [dictionary!, ...olderDictionaries].map(({ sha256 }) => deployOf.get(sha256));
    };
    assert.deepEqual(await deltasFor(1), ["a"]);
    assert.deepEqual(await deltasFor(3), ["a", "b", "10"]);
    assert.deepEqual(await deltasFor(2), ["a", "b"]);
    await mkdir(join(folder, "none"));
    assert.deepEqual((await precompress(now, { ...options, previous: join(folder, "none"), retain: 2 })).problems, []);
    for (const previous of [join(deploys, "a"), now]) {
      await writeTree(previous, { "index.html": "a deploy" });
      await assert.rejects(precompress(now, { ...options, previous, retain: 2 }), {
        name: "TypeError",
        message: /^retain is for a folder of deploys, and .* is one: it holds index.html$/,
      });
    }
    await assert.rejects(precompress(now, { retain: 2 }), {
      message: "retain is of no use without previous: name the folder of the deploys",
    });
    await assert.rejects(precompress(now, { retain: 2, previous: [deploys, deploys] }), {
      message: "retain is for one folder of deploys, and previous names 2",
    });
    await assert.rejects(precompress(now, { retain: 4, previous: deploys }), { name: "RangeError" });
  }));

test("files with names of which one's deltas have the other's places settle, and are served right", () =>
  inFolder(async (folder) => {
    const names = ["app.js", "app.js.2", "page.html", "page.html.site", "third.html"];
    const deploys = [1, 2, 3].map((i) => join(folder, `deploy-${i}`));
    for (const [i, deploy] of deploys.entries()) {
      const page = (seed: number) =>
        concatenated([sourceText(8000, 1), sourceText(200 + 100 * i, seed), sourceText(3000, 2)]);
      await writeTree(deploy, Object.fromEntries(names.map((name, seed) => [name, page(10 + seed)])));
    }
    const [now, ...previous] = deploys.toReversed();
    const options = { levels: { brotli: 5 }, jobs: 1, formats: ["brotli"], siteDictionary: true, previous } as const;
    assert.deepEqual((await precompress(now!, options)).problems, []);
    assert.ok((await listed(now!)).some((path) => /^third\.html\.(?:2|site)\.dcb$/.test(path)));
    assert.deepEqual((await precompress(now!, options)).compressed, []);
    await using site = await createStaticHandler(now!, {
      onWarning: ({ path, message }) => assert.fail(`${path}: ${message}`),
    });
    assert.equal(
      site.stats().files,
      names.length + Number((await listed(now!)).some((path) => path.endsWith(".dict"))),
    );
  }));

test("low levels make deltas, too", () =>
  inFolder(async (folder) => {
    const former = sourceText(9000, 1);
    const next = concatenated([former, sourceText(100, 2)]);
    const [before, after] = [join(folder, "before"), join(folder, "after")];
    await writeTree(before, { "app.js": former });
    await writeTree(after, { "app.js": next });
    for (const level of [0, 4]) {
      const levels = { brotli: level, zstd: Math.max(level, 1), gzip: 1 };
      const { problems } = await precompress(after, { previous: before, levels, force: true });
      assert.deepEqual(problems, [], `level ${level}`);
      for (const format of ["dcb", "dcz"] as const) {
        const delta = await readFile(join(after, `app.js.${format}`));
        assert.deepEqual(await decompress(delta, { format, dictionary: former }), next);
      }
    }
  }));

test("a delta that saves little over the plain variant is not kept", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "before/a.js": sourceText(30_000, 1), "after/a.js": sourceText(30_000, 2) });
    await precompress(join(folder, "after"), { previous: join(folder, "before") });
    const { variants } = (await readManifest(join(folder, "after")))!.files["a.js"]!;
    assert.equal(variants.dcb!.state, "unworthy");
    assert.equal(variants.dcz!.state, "unworthy");
  }));

test("after a lost manifest a dry run says what the run does, and deltas of the former run are used or named", () =>
  inFolder(async (folder) => {
    const [previous, site] = [join(folder, "former"), join(folder, "site")];
    await writeTree(previous, { "a.js": sourceText(9000, 1), "b.js": sourceText(9000, 2) });
    await writeTree(site, { "a.js": sourceText(9100, 1), "b.js": sourceText(9000, 3) }); // no delta of b.js is worth it
    const options = { formats: ["zstd"], levels: { zstd: 3 } } as const;
    await precompress(site, { ...options, previous });
    for (const after of [{ ...options, previous }, options]) {
      await rm(join(site, manifestName));
      const planned = await precompress(site, { ...after, dryRun: true });
      const made = await precompress(site, after);
      assert.deepEqual({ ...planned, elapsedMs: 0, types: [] }, { ...made, elapsedMs: 0, types: [] });
      assert.deepEqual([made.compressed, made.unchanged, made.problems], [[], 2, []]);
      assert.deepEqual(made.found, "previous" in after ? [] : ["a.js.dcz"]);
    }
  }));
