import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { precompress } from "../../lib/precompress/mod.ts";
import { fileStatus } from "../../lib/runtime/mod.ts";
import { openStaticHandler } from "../../lib/static/internal.ts";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { FileColumns } from "../../lib/static/scan/found_files.ts";
import { LargeContents } from "../../lib/static/scan/file_content.ts";
import { Tree } from "../../lib/static/scan/tree.ts";
import { TurnSlicer } from "../../lib/timers/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { pause } from "../support/waits.ts";

/** Content of a file that is read behind. */
const large = (seed: number): Uint8Array<ArrayBuffer> => new Uint8Array(270_000 + seed).fill(64 + seed);
const small = "<p>mill</p>";

async function answerOf(
  site: Pick<StaticHandler, "fetch">,
  target: string,
  fields: Record<string, string> = {},
): Promise<unknown> {
  const response = await site.fetch(
    new Request(`http://site.example${target}`, { headers: fields, redirect: "manual" }),
  );
  const { status, headers } = response;
  return {
    target,
    status,
    fields: Object.fromEntries(headers),
    hash: hash("sha256", Buffer.from(await response.arrayBuffer())),
  };
}

/** Checks that each request while large files are read behind has the answer that it has afterwards. */
async function holds(folder: string, options: StaticHandlerOptions, targets: readonly string[]): Promise<void> {
  const warnings: string[] = [];
  const told = { ...options, onWarning: ({ path }: { path: string }) => void warnings.push(path) };
  const asks: readonly Record<string, string>[] = [{}, { "accept-encoding": "br, gzip", accept: "text/html" }];
  for (const fields of asks) {
    await using whole = await createStaticHandler(folder, told);
    const { handler, whole: isWhole } = await openStaticHandler(folder, told);
    await using hasty = handler;
    const asked = targets.map((target) => answerOf(hasty, target, fields));
    assert.equal(hasty.stats().files, whole.stats().files);
    for (const [i, target] of targets.entries()) {
      assert.deepEqual(await asked[i], await answerOf(whole, target, fields));
    }
    await isWhole;
    for (const target of targets) {
      assert.deepEqual(await answerOf(hasty, target, fields), await answerOf(whole, target, fields));
    }
    assert.deepEqual(hasty.stats(), whole.stats());
  }
}

test("while large files are read behind, every path has the answer that it has once all are read", () =>
  inFolder(async (folder) => {
    const [site, former] = [join(folder, "site"), join(folder, "former")];
    await writeTree(site, {
      "a.html": large(1),
      "data/b.js": large(2),
      "data/b.js.br": brotliCompressSync(large(2)),
      "data/b.js.gz": gzipSync("something else"),
      "data/c.js": sourceText(3000),
      "data/c.js.gz": gzipSync(sourceText(3000), { level: 1 }),
      "data/index.html": large(3),
      "index.html": small,
      "lost.html": large(4),
      "sub/index.html": small,
    });
    await writeTree(former, { "assets/old.js": large(5), "assets/small.js": small, "data/b.js": small });
    const targets = [
      "/",
      "/a",
      "/a.html",
      "/a/",
      "/data",
      "/data/",
      "/data/b.js",
      "/data/b.js.br",
      "/data/b.js.gz",
      "/data/c.js",
    ];
    const more = [
      "/data/index.html",
      "/sub",
      "/missing",
      "/missing.js",
      "/lost",
      "/assets/old.js",
      "/assets/small.js",
      "/%zz",
    ];
    await holds(site, { cleanUrls: true, notFound: "lost.html", previous: former, immutable: "assets/**" }, [
      ...targets,
      ...more,
    ]);
    await holds(site, { fallback: "a.html", basePath: "/x/" }, [...targets, ...more].map((target) => `/x${target}`));
    const quick = { jobs: 1, levels: { brotli: 4, zstd: 1, gzip: 1 }, force: true } as const;
    await precompress(site, quick);
    await writeFile(join(site, "data/b.js"), large(6)); // since then
    await holds(site, {}, targets);
  }));

test("however many unread files are requested, few are open at a time, and a warning that throws holds none up", async () => {
  const found = new FileColumns();
  found.folders.push("/site/");
  for (let i = 0; i < 40; i++) {
    found.addFile(`${i}.bin`, undefined);
    found.unread.add(i);
  }
  let open = 0;
  let most = 0;
  const tree = new Tree(found, async (file) => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setImmediate(resolve));
    open--;
    if (file % 2 === 0) throw new Error("of a callback");
  }, new LargeContents());
  const reads = Array.from({ length: 40 }, (_, file) => tree.read(file));
  assert.equal(tree.read(1), reads[1], "once");
  const settled = await Promise.allSettled(reads);
  assert.equal(settled.filter(({ status }) => status === "rejected").length, 20);
  assert.deepEqual([open, tree.unread.size], [0, 0]);
  assert.ok(most <= 8, String(most));
});

test("it answers before large files are read, and from none that is of other bytes", () =>
  inFolder(async (root) => {
    const folder = join(root, "site");
    await writeTree(root, { another: "another" });
    await writeTree(folder, { "index.html": small, "video.mp4": "x", "z.bin": "x" });
    for (const path of ["video.mp4", "z.bin"]) await truncate(join(folder, path), 64_000_000);
    const { handler, whole } = await openStaticHandler(folder, { onWarning() {} });
    await using site = handler;
    let isWhole = false;
    void whole.then(() => isWhole = true);
    await Promise.resolve();
    assert.equal(isWhole, false);
    assert.equal((await site.fetch(new Request("http://site.example/"))).status, 200);
    await rename(join(root, "another"), join(folder, "z.bin"));
    const head = (path: string) => site.fetch(new Request(`http://site.example/${path}`, { method: "HEAD" }));
    const [last, first] = [site.fetch(new Request("http://site.example/z.bin")), head("video.mp4")];
    assert.ok(first instanceof Promise);
    assert.equal(await (await last).text(), "another");
    assert.equal((await first).headers.get("content-length"), "64000000");
    await whole;
    assert.equal((await head("video.mp4")).status, 200);
  }));

test("the content of a large file is kept once its times show a further change, also in FAT's even seconds", (t) =>
  inFolder(async (folder) => {
    const path = join(folder, "video.mp4");
    await writeFile(path, large(1));
    const contents = new LargeContents();
    const { ctimeMs } = fileStatus(path);
    for (const [age, isKept] of [[1990, false], [2010, true]] as const) {
      const turns = new TurnSlicer();
      t.mock.method(Date, "now", () => ctimeMs + age);
      const content = contents.read(path, turns);
      t.mock.restoreAll();
      await content;
      assert.equal(contents.has(path, fileStatus(path)), isKept);
    }
  }));

test("a large file is read once, however often the folder is scanned meanwhile and afterwards", () =>
  inFolder(async (root) => {
    const folder = join(root, "site");
    await writeTree(folder, { "index.html": small, "video.mp4": "x" });
    await truncate(join(folder, "video.mp4"), 128_000_000);
    await pause(2100); // a file that has just changed is read by each scan
    const { handler } = await openStaticHandler(folder, { onWarning() {} });
    await using site = handler;
    const head = () => site.fetch(new Request("http://site.example/video.mp4", { method: "HEAD" }));
    let isAnswered = false;
    const video = Promise.resolve(head()).then(() => isAnswered = true);
    const deadline = Date.now() + 5000;
    while (!isAnswered && Date.now() < deadline) {
      await site.reload();
      await pause(5);
    }
    assert.ok(isAnswered, "the scans hold the answer up");
    await video;
    await site.reload();
    assert.ok(!(head() instanceof Promise), "it is read again");
    assert.equal(site.stats().bytesInMemory, small.length, "files of which all are known are in memory at once");
    const before = (await head()).headers.get("etag");
    await writeFile(join(folder, "video.mp4"), "y", { flag: "r+" });
    await site.reload();
    assert.notEqual((await head()).headers.get("etag"), before);
  }));

test("a file that is replaced while large ones are read has its new answer before these are read", () =>
  inFolder(async (root) => {
    const folder = join(root, "site");
    await writeTree(folder, { "index.html": small, "video.mp4": "x" });
    await truncate(join(folder, "video.mp4"), 64_000_000);
    const { handler, whole } = await openStaticHandler(folder, { onWarning() {} });
    await using site = handler;
    await writeTree(root, { "next.html": "<p>the next" });
    await rename(join(root, "next.html"), join(folder, "index.html"));
    const reloaded = site.reload();
    const video = site.fetch(new Request("http://site.example/video.mp4", { method: "HEAD" }));
    await reloaded;
    assert.equal(await (await site.fetch(new Request("http://site.example/"))).text(), "<p>the next");
    assert.equal((await video).headers.get("content-length"), "64000000");
    await whole;
    assert.equal(await (await site.fetch(new Request("http://site.example/"))).text(), "<p>the next");
  }));
