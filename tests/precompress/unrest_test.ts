import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { decompress } from "../../lib/codecs/mod.ts";
import { manifestName, precompress, type PrecompressProgress, readManifest } from "../../lib/precompress/mod.ts";
import { Target } from "../../lib/precompress/target.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";
import { millrace } from "../support/command.ts";
import { tries } from "../support/long_run.ts";
import { needs } from "../support/needs.ts";
import { randomNumbers } from "../support/random_numbers.ts";

const quick = { levels: { brotli: 5, zstd: 3, gzip: 6 } } as const;
const variantsOf = async (folder: string, path: string) =>
  (await listed(folder)).filter((each) => each.startsWith(`${path}.`));

/** Calls `what` once, as soon as the first variant is written. */
function onceUnderWay(what: () => void): (progress: PrecompressProgress) => void {
  let isDone = false;
  return ({ bytesDone }) => {
    if (isDone || bytesDone === 0) return;
    isDone = true;
    what();
  };
}

test("precompress() names a file that changes and one that vanishes during the run, and does the others", () =>
  inFolder(async (folder) => {
    const { rmSync } = await import("node:fs");
    await writeTree(folder, {
      "first.js": sourceText(90_000, 1),
      "second.js": sourceText(80_000, 2),
      "third.js": sourceText(70_000, 3),
      "fourth.js": sourceText(60_000, 4),
    });
    await precompress(folder, quick);
    const unrest = onceUnderWay(() => {
      writeFileSync(join(folder, "third.js"), sourceText(70_000, 5));
      rmSync(join(folder, "fourth.js"));
    });
    await writeFile(join(folder, "second.js"), sourceText(79_000, 6));
    await writeFile(join(folder, "third.js"), sourceText(69_000, 6));
    await writeFile(join(folder, "fourth.js"), sourceText(59_000, 6));
    const { problems, compressed } = await precompress(folder, { ...quick, jobs: 1, onProgress: unrest });
    const messages = problems.map(({ path, message }) => `${path}: ${message}`).join("\n");
    assert.match(messages, /^third\.js: .*it changed during the run: run again/m);
    assert.match(messages, /^fourth\.js: .*it vanished during the run: run again/m);
    assert.ok(compressed.includes("second.js"));
    assert.deepEqual(await variantsOf(folder, "third.js"), [], "a variant of former content must not outlive it");
    assert.equal((await variantsOf(folder, "first.js")).length, 3);
    assert.deepEqual((await precompress(folder, quick)).problems, []);
    assert.equal((await variantsOf(folder, "third.js")).length, 3);
    assert.equal((await variantsOf(folder, "fourth.js")).length, 0);
  }));

test(
  "the record of a file that a run cannot read is marked, so that servers do not use it",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "a.txt": "a", "b.txt": "b" });
      const isMarked = async () => (await readManifest(folder))!.files["a.txt"]!.unread;
      const options = { include: ["*.txt"], minSize: 9 };
      await precompress(folder, options);
      assert.equal(await isMarked(), undefined);
      await rename(join(folder, "a.txt"), `${folder}.a`);
      await symlink("nothing", join(folder, "a.txt"));
      assert.equal((await precompress(folder, options)).problems.length, 1);
      assert.equal(await isMarked(), true);
      await rename(`${folder}.a`, join(folder, "a.txt"));
      await precompress(folder, options);
      assert.equal(await isMarked(), undefined);
    }),
);

test("the record of a file that changes during a run is marked if its variant cannot be removed", (t) =>
  inFolder(async (folder) => {
    const options = { ...quick, formats: ["gzip"] } as const;
    await writeTree(folder, { "a.txt": sourceText(3000, 1) });
    await precompress(folder, options);
    await writeTree(folder, { "b.txt": sourceText(3000, 2) });
    const { now } = Target.prototype;
    t.mock.method(Target.prototype, "now", async function (this: Target) {
      await writeTree(folder, { "a.txt": sourceText(3000, 3) });
      return await now.call(this);
    });
    t.mock.method(Target.prototype, "remove", () => Promise.reject(new Error("EPERM")));
    const paths = (await precompress(folder, options)).problems.map(({ path }) => path);
    assert.deepEqual(paths, ["a.txt", "a.txt.gz"]);
    assert.equal((await readManifest(folder))!.files["a.txt"]!.unread, true);
    t.mock.restoreAll();
    assert.deepEqual((await precompress(folder, options)).problems, []);
    assert.equal((await readManifest(folder))!.files["a.txt"]!.unread, undefined);
  }));

test("a run's last look is later than all changes by itself, by the file system's clock: servers trust its records", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "sub/a.txt": sourceText(3000, 1) });
    await precompress(folder, { ...quick, formats: ["gzip"] });
    const { mtimeMs } = await stat(join(folder, manifestName));
    for (const path of ["sub", "sub/a.txt.gz"]) assert.ok((await stat(join(folder, path))).ctimeMs < mtimeMs, path);
  }));

test("whenever a file changes during a run, no server is told that its variants, or its hash, are of its content", () =>
  inFolder(async (folder) => {
    const seed = 1 + Math.floor(Math.random() * 2 ** 31);
    const below = randomNumbers(seed);
    const paths = Array.from({ length: 5 }, (_, i) => `${i}.js`);
    let version = 0;
    const change = (): void => { // of the same size; above 64 KiB, a server does not keep the bytes that it hashed
      const path = join(folder, paths[below(paths.length)]);
      const isReplaced = below(3) === 0;
      writeFileSync(isReplaced ? `${folder}.new` : path, sourceText(70_000, ++version));
      if (isReplaced) renameSync(`${folder}.new`, path);
    };
    await writeTree(folder, Object.fromEntries(paths.map((path, i) => [path, sourceText(70_000, -i)])));
    for (let round = 0; round < tries(18); round++) {
      const moments = [below(100) / 100, below(100) / 100];
      const onProgress = ({ fraction }: PrecompressProgress): void => {
        while (moments.length > 0 && fraction >= Math.min(...moments)) {
          moments.splice(moments.indexOf(Math.min(...moments)), 1);
          change();
        }
      };
      const { problems } = await precompress(folder, { ...quick, formats: ["brotli", "gzip"], onProgress });
      const site = await createStaticHandler(folder);
      for (const path of paths) {
        const content = await readFile(join(folder, path));
        for (const coding of ["identity", "br", "gzip"]) {
          const asked = new Request(`http://site/${path}`, { headers: { "accept-encoding": coding } });
          const response = await site.fetch(asked);
          const format = response.headers.get("content-encoding");
          const body = new Uint8Array(await response.arrayBuffer());
          const decoded = format ? await decompress(body, { format: format === "br" ? "brotli" : "gzip" }) : body;
          assert.ok(content.equals(decoded), `${path} by ${coding} in round ${round} (seed ${seed})`);
        }
        const stale = (await variantsOf(folder, path)).length > 0 && problems.some((problem) => problem.path === path);
        assert.ok(!stale, `${path} changed, and keeps variants in round ${round} (seed ${seed})`);
      }
      await site.close();
    }
  }));

test("precompress() names a large file that changes while it is streamed, and keeps no variant of it", () =>
  inFolder(async (folder) => {
    const { appendFileSync } = await import("node:fs");
    const part = sourceText(50_000, 4);
    await writeTree(folder, { "large.txt": Buffer.concat(Array.from({ length: 360 }, () => part)) });
    const unrest = onceUnderWay(() => appendFileSync(join(folder, "large.txt"), "more"));
    const { problems } = await precompress(folder, { ...quick, formats: ["zstd"], onProgress: unrest });
    assert.deepEqual(problems.map(({ message }) => message), [
      ".zst: it changed during the run: run again once the folder is at rest",
    ]);
    assert.deepEqual(await variantsOf(folder, "large.txt"), []);
  }));

test("precompress() keeps what it finished when it is stopped", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "large.js": sourceText(120_000, 1) });
    for (let i = 0; i < 30; i++) await writeTree(folder, { [`small${i}.js`]: sourceText(30_000, i) });
    const stop = new AbortController();
    const half = ({ fraction }: PrecompressProgress) => fraction > 0.5 && stop.abort(new Error("enough"));
    const stopped = precompress(folder, { ...quick, jobs: 1, signal: stop.signal, onProgress: half });
    await assert.rejects(stopped, { message: "enough" });
    const { compressed, unchanged } = await precompress(folder, { ...quick, jobs: 1 });
    assert.ok(unchanged > 3, `${unchanged} files were kept`);
    assert.equal(compressed.length + unchanged, 31);
  }));

test("precompress() goes on without its manifest: what it made before is its own, deltas too", () =>
  inFolder(async (folder) => {
    const [before, after] = [join(folder, "before"), join(folder, "after")];
    await writeTree(before, { "app.js": sourceText(30_000, 1) });
    await writeTree(after, { "app.js": Buffer.concat([sourceText(30_000, 1), sourceText(300, 2)]) });
    await precompress(after, { ...quick, previous: before });
    assert.equal((await variantsOf(after, "app.js")).length, 5);
    const manifest = await readFile(join(after, manifestName), "utf8");
    await rm(join(after, manifestName));
    const report = await precompress(after, { ...quick, previous: before });
    assert.deepEqual([report.problems, report.found, report.unchanged], [[], [], 1]);
    assert.equal(await readFile(join(after, manifestName), "utf8"), manifest);
    await rm(join(after, manifestName));
    await writeFile(join(after, "app.js.dcb"), "somebody's data");
    const [problem] = (await precompress(after, { ...quick, previous: before })).problems;
    assert.equal(problem?.path, "app.js.dcb");
    assert.equal(await readFile(join(after, "app.js.dcb"), "utf8"), "somebody's data");
  }));

test(
  "with out, files of a folder that cannot be read now keep their copies",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const [site, out] = [join(folder, "site"), join(folder, "out")];
      await writeTree(folder, { "site/index.html": "<p>mill</p>".repeat(300), "shared/lib.js": sourceText(5000) });
      await symlink("../shared", join(site, "vendor"));
      const options = { ...quick, out, followLinks: true };
      await precompress(site, options);
      const before = await listed(out);
      assert.ok(before.includes("vendor/lib.js.br"));
      await rm(join(folder, "shared"), { recursive: true });
      const report = await precompress(site, options);
      assert.deepEqual(report.problems.map(({ path }) => path), ["vendor"]);
      assert.deepEqual(await listed(out), before);
    }),
);

test("with out, another tool's compressed files are copied unless a variant of ours has their place", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, { "page.html": "<p>mill</p>".repeat(300), "page.html.gz": "theirs", "small.txt": "x" });
    await writeTree(site, { "small.txt.gz": "theirs", "nested/.millrace.json": `{"a": "${"b".repeat(2000)}"}` });
    await precompress(site, { ...quick, out, formats: ["brotli"] });
    const expected = [manifestName, "page.html", "page.html.br", "page.html.gz", "small.txt", "small.txt.gz"];
    assert.deepEqual(await listed(out), expected);
    assert.equal((await precompress(site, { ...quick, out, formats: ["brotli"], dryRun: true })).copied.length, 0);
    await precompress(site, { ...quick, out, formats: ["brotli", "gzip"], force: true });
    const page = await decompress(await readFile(join(out, "page.html.gz")), { format: "gzip" });
    assert.deepEqual(Buffer.from(page), await readFile(join(site, "page.html")));
    assert.equal(await readFile(join(out, "small.txt.gz"), "utf8"), "theirs");
    assert.deepEqual((await readManifest(out))!.files["page.html.gz"], undefined);
  }));

test("with out, --check tells of copies that are missing", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, { "small.txt": "x" });
    await precompress(site, { out });
    assert.equal((await millrace([site, "--out", out, "--check"])).status, 0);
    await rm(join(out, "small.txt"));
    const { status, stdout, stderr } = await millrace([site, "--out", out, "--check"]);
    assert.equal(status, 1);
    assert.match(stdout, /^small\.txt\n/);
    assert.match(stderr, /1 file to compress, copy or remove/);
    assert.deepEqual(await listed(out), [manifestName]);
  }));

test("a folder that cannot be written to is named", {
  skip: process.getuid?.() === 0 && "root may write anywhere",
}, () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "index.html": "<p>mill</p>".repeat(300) });
    await chmod(folder, 0o555);
    await assert.rejects(precompress(folder, quick), { message: /^cannot write to .*permission denied/ });
    await chmod(folder, 0o000);
    await assert.rejects(precompress(folder), { message: /^cannot read .*permission denied/ });
    await chmod(folder, 0o755);
  }));

test("with out, a file where a folder belongs is named", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, { "assets/app.js": sourceText(3000), "index.html": "<p>mill</p>".repeat(300) });
    await mkdir(out);
    await writeFile(join(out, "assets"), "in the way");
    await assert.rejects(precompress(site, { ...quick, out }), { message: /holds files that no run put there/ });
    const { problems } = await precompress(site, { ...quick, out, force: true });
    assert.deepEqual(problems.map(({ path, message }) => `${path}: ${message}`), [
      "assets/app.js: a file is in the way of a folder: remove it and run again",
    ]);
    assert.ok((await listed(out)).includes("index.html.br"));
  }));
