import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { decompress } from "../../lib/codecs/mod.ts";
import { runJob } from "../../lib/precompress/execute.ts";
import { holds } from "../../lib/precompress/internal.ts";
import { cleanPrecompressed, manifestName, precompress, readManifest } from "../../lib/precompress/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { changedAt, contents, inFolder, listed, writeTree } from "../support/folders.ts";
import { writeSite } from "./site.ts";
import { madeOnce } from "../support/made_once.ts";
import { needs } from "../support/needs.ts";
import { turn } from "../support/waits.ts";
import { cannotListOpenFiles, openFilesIn } from "../files/written.ts";

/** Levels that make tests quick; the bytes are then still the codecs'. To start a worker takes longer than its work. */
const quick = { levels: { brotli: 5, zstd: 3, gzip: 6 }, jobs: 1 } as const;

const worthwhile = ["assets/app.4f3a9c1e.js", "assets/deep/er/data.json", "assets/style.css", "index.html"];
const originals = [...worthwhile, "empty.txt", "picture.png", "small.txt", "unknown.bin"].sort();

/** Writes the site as a quick run leaves it. */
const writeMade = madeOnce(async (folder) => {
  await writeSite(folder);
  await precompress(folder, quick);
});

test("precompress() writes variants that decode to their file, with its time of change", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const report = await precompress(folder);
    assert.deepEqual(report.compressed, worthwhile);
    assert.deepEqual(report.problems, []);
    assert.equal(report.skipped, 4);
    const variants = worthwhile.flatMap((path) => [`${path}.br`, `${path}.gz`, `${path}.zst`]);
    assert.deepEqual(await listed(folder), [manifestName, ...originals, ...variants].sort());
    for (const path of worthwhile) {
      const original = await readFile(join(folder, path));
      for (const [suffix, format] of [["br", "brotli"], ["gz", "gzip"], ["zst", "zstd"]] as const) {
        const variant = join(folder, `${path}.${suffix}`);
        assert.deepEqual(Buffer.from(await decompress(await readFile(variant), { format })), original);
        assert.equal(await changedAt(variant), await changedAt(join(folder, path)));
      }
    }
  }));

test("precompress() does nothing where nothing changed, whatever the times of change say", () =>
  inFolder(async (folder) => {
    await writeMade(folder);
    const before = await contents(folder);
    for (const ms of [1.8e12, needs("past") ? 1500 : -1500]) {
      await utimes(join(folder, "index.html"), new Date(ms), new Date(ms));
      const report = await precompress(folder, quick);
      assert.deepEqual(report.compressed, []);
      assert.equal(report.unchanged, worthwhile.length);
      assert.deepEqual(await contents(folder), before);
      assert.equal(await changedAt(join(folder, "index.html.br")), ms, "servers compare the times");
    }
  }));

test("precompress() counts files with too little to save as left alone", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    for (let run = 0; run < 2; run++) {
      const report = await precompress(folder, { ...quick, minSaving: 0.999 });
      assert.deepEqual([report.compressed.length, report.unchanged, report.skipped], [0, 0, 8]);
    }
  }));

test("precompress() redoes only what changed in content, also if its time of change is old", () =>
  inFolder(async (folder) => {
    await writeMade(folder);
    const style = join(folder, "assets/style.css");
    await writeFile(style, "body { margin: 1; color: #123456 }\n".repeat(200));
    await utimes(style, 1.7e9, 1.7e9);
    const report = await precompress(folder, quick);
    assert.deepEqual(report.compressed, ["assets/style.css"]);
    assert.deepEqual(
      Buffer.from(await decompress(await readFile(`${style}.br`), { format: "brotli" })),
      await readFile(style),
    );
  }));

test("precompress() makes again what is missing, forced or made at other levels", () =>
  inFolder(async (folder) => {
    await writeMade(folder);
    const before = await contents(folder);
    await rm(join(folder, "index.html.br"));
    await rm(join(folder, "assets/style.css.gz"));
    const report = await precompress(folder, quick);
    assert.deepEqual(report.compressed, ["assets/style.css", "index.html"]);
    assert.deepEqual(await contents(folder), before);
    assert.equal((await precompress(folder, { ...quick, force: true })).compressed.length, worthwhile.length);
    assert.deepEqual(await contents(folder), before);
    const other = await precompress(folder, { levels: { ...quick.levels, zstd: 4 } });
    assert.equal(other.compressed.length, worthwhile.length);
  }));

test("precompress() removes variants of files that are gone, shrunk away or no longer wanted", () =>
  inFolder(async (folder) => {
    await writeMade(folder);
    await rm(join(folder, "index.html"));
    await writeFile(join(folder, "assets/style.css"), "body {}\n");
    const report = await precompress(folder, { ...quick, exclude: ["**/*.json"], formats: ["brotli", "gzip"] });
    const left = (await listed(folder)).filter((path) => /\.(br|gz|zst)$/.test(path));
    assert.deepEqual(left, ["assets/app.4f3a9c1e.js.br", "assets/app.4f3a9c1e.js.gz"]);
    assert.equal(report.removed.length, 3 + 3 + 3 + 1);
  }));

test("precompress() removes a variant when the changed file is no longer worth one", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "data.txt": "wheel ".repeat(1000) });
    await precompress(folder, quick);
    await writeTree(folder, { "data.txt": crypto.getRandomValues(new Uint8Array(3000)) });
    await precompress(folder, quick);
    assert.deepEqual(await listed(folder), [manifestName, "data.txt"]);
  }));

test("precompress() takes include, exclude, minSize and minSaving by their word", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const dryRun = true;
    const chosen = async (options: object) => (await precompress(folder, { dryRun, ...options })).compressed;
    assert.deepEqual(await chosen({ include: ["assets/**"] }), worthwhile.slice(0, 3));
    assert.deepEqual(await chosen({ include: ["**/*.{css,html}"], exclude: ["assets/**"] }), ["index.html"]);
    assert.deepEqual(await chosen({ minSize: 30_000 }), ["assets/app.4f3a9c1e.js"]);
    assert.deepEqual(await listed(folder), originals, "a dry run writes nothing");
    await precompress(folder, { ...quick, minSaving: 0.95, formats: ["gzip"] });
    const kept = (await listed(folder)).filter((path) => path.endsWith(".gz"));
    for (const path of kept) {
      const [small, large] = [await stat(join(folder, path)), await stat(join(folder, path.slice(0, -3)))];
      assert.ok(small.size <= large.size * 0.05, path);
    }
  }));

test("precompress() with out writes a copy of the tree and keeps it in step", () =>
  inFolder(async (folder) => {
    const [source, out] = [join(folder, "source"), join(folder, "out")];
    await writeSite(source);
    await precompress(source, { ...quick, out });
    assert.deepEqual(await listed(source), originals, "the source is left alone");
    for (const path of originals) {
      assert.deepEqual(await readFile(join(out, path)), await readFile(join(source, path)));
      assert.equal(await changedAt(join(out, path)), await changedAt(join(source, path)));
    }
    await rm(join(source, "index.html"));
    await rm(join(source, "small.txt"));
    await writeTree(out, { "somebody's.txt": "not ours" });
    const report = await precompress(source, { ...quick, out });
    assert.deepEqual(report.removed, ["index.html", "index.html.br", "index.html.gz", "index.html.zst", "small.txt"]);
    assert.ok((await listed(out)).includes("somebody's.txt"));
    assert.equal(report.compressed.length, 0);
  }));

test("precompress() refuses an out folder that holds the source or lies in it", () =>
  inFolder(async (folder) => {
    await writeSite(join(folder, "site"));
    for (const out of [join(folder, "site"), join(folder, "site/out"), folder]) {
      await assert.rejects(precompress(join(folder, "site"), { out }), { name: "TypeError", message: /must not hold/ });
    }
  }));

test("a folder holds what is below any path to it", { skip: needs("links") }, () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "site/a/b.txt": "x", "other/c.txt": "y" });
    const real = join(folder, "site");
    // A short name or a mount is a second real path; a link is a second path as well.
    const second = join(folder, "second");
    await symlink(real, second, "junction");
    for (const [one, other] of [[real, second], [second, real]]) {
      for (const below of ["", "a", "a/b.txt", "new", "new/deep"]) assert.ok(holds(one, join(other, below)), below);
      assert.ok(!holds(join(one, "a"), other));
      assert.ok(!holds(one, join(folder, "other")));
    }
  }));

test("precompress() leaves another tool's compressed file as it is, and names what is none", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const index = await readFile(join(folder, "index.html"));
    const { gzipSync } = await import("node:zlib");
    await writeFile(join(folder, "index.html.gz"), gzipSync(index, { level: 1 }));
    await writeFile(join(folder, "assets/style.css.gz"), gzipSync("somebody's data"));
    const report = await precompress(folder, quick);
    assert.equal(report.problems.length, 1);
    assert.equal(report.problems[0]!.path, "assets/style.css.gz");
    assert.match(report.problems[0]!.message, /it is in the way and not made from style\.css: remove it/);
    assert.ok((await listed(folder)).includes("assets/style.css.br"), "its other variants are made");
    assert.deepEqual(report.found, ["index.html.gz"]);
    assert.deepEqual(await readFile(join(folder, "index.html.gz")), gzipSync(index, { level: 1 }));
    assert.deepEqual(await readFile(join(folder, "assets/style.css.gz")), gzipSync("somebody's data"));
    assert.deepEqual((await precompress(folder, { ...quick, force: true })).problems, []);
    assert.notDeepEqual(await readFile(join(folder, "index.html.gz")), gzipSync(index, { level: 1 }));
  }));

test("cleanPrecompressed() removes what a run made and nothing else", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    await writeTree(folder, { "own.br": "not ours", "assets/more.css.gz": "not ours either" });
    const before = await contents(folder);
    await precompress(folder, quick);
    await cleanPrecompressed(folder);
    assert.deepEqual(await contents(folder), before);
    assert.deepEqual(await cleanPrecompressed(folder), { removed: [], problems: [] });
  }));

test("cleanPrecompressed() names what it cannot remove, removes the rest, and can be run again", {
  skip: needs("modes") || process.getuid?.() === 0 && "root may remove anything",
}, () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const before = await listed(folder);
    await precompress(folder, quick);
    await chmod(join(folder, "assets"), 0o555);
    const { problems } = await cleanPrecompressed(folder);
    assert.equal(problems.length, 6);
    await chmod(join(folder, "assets"), 0o755);
    assert.equal((await cleanPrecompressed(folder)).removed.length, 7);
    assert.deepEqual(await listed(folder), before);
  }));

test("a manifest that names files outside of its folder is refused", () =>
  inFolder(async (folder) => {
    await writeTree(folder, {
      "precious.txt": "keep",
      "site/.millrace.json":
        '{"version":1,"copied":true,"files":{"../precious.txt":{"size":4,"sha256":"","variants":{}}}}',
    });
    await assert.rejects(cleanPrecompressed(join(folder, "site")), { name: "TypeError", message: /delete it/ });
    await assert.rejects(precompress(join(folder, "site")), { name: "TypeError", message: /delete it/ });
  }));

test(
  "precompress() names each file that it cannot handle and does the others",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      await writeSite(folder);
      await symlink("..", join(folder, "assets/loop"));
      await symlink("nowhere", join(folder, "dangling.html"));
      await mkdir(join(folder, "index.html.br/in-the-way"), { recursive: true });
      const unreadable = process.getuid?.() === 0 ? [] : ["assets/style.css"];
      for (const path of unreadable) await chmod(join(folder, path), 0);
      const { problems } = await precompress(folder, { ...quick, force: true });
      const messages = Object.fromEntries(problems.map(({ path, message }) => [path, message]));
      assert.deepEqual(Object.keys(messages), ["assets/loop", ...unreadable, "dangling.html", "index.html.br"]);
      assert.match(messages["assets/loop"]!, /a loop: remove or exclude it/);
      assert.match(messages["dangling.html"]!, /leads nowhere/);
      assert.match(messages["index.html.br"]!, /^a folder is in the way/);
      for (const path of [".gz", ".zst"].map((suffix) => `index.html${suffix}`)) {
        assert.ok((await listed(folder)).includes(path), `${path} is done`);
      }
      assert.ok(!(await listed(folder)).some((path) => path.endsWith(".tmp")));
    }),
);

test(
  "precompress() follows symbolic links to files and folders",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "site/page.html": "<p>mill</p>".repeat(300), "elsewhere/lib.js": sourceText(5000) });
      await symlink("../elsewhere", join(folder, "site/vendor"));
      await symlink("page.html", join(folder, "site/index.html"));
      const report = await precompress(join(folder, "site"), { ...quick, followLinks: true });
      assert.deepEqual(report.compressed, ["index.html", "page.html", "vendor/lib.js"]);
    }),
);

test("precompress() refuses a missing folder, a file and options out of range", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "file.txt": "x" });
    const rejects = (directory: string, options: object, error: object) =>
      assert.rejects(precompress(directory, options), error);
    await rejects(join(folder, "none"), {}, { name: "TypeError", message: /there is no such folder/ });
    await rejects(join(folder, "file.txt"), {}, { name: "TypeError", message: /it is a file, not a folder/ });
    await rejects(folder, { previous: join(folder, "none") }, { name: "TypeError", message: /no such folder/ });
    await rejects(folder, { formats: ["lzma"] }, {
      name: "TypeError",
      message: /^formats\[0\] must be .*, not "lzma"/,
    });
    await rejects(folder, { levels: { zstd: 23 } }, { name: "RangeError", message: /^levels\.zstd 23 .*from 1 to 22/ });
    await rejects(folder, { jobs: 0 }, { name: "RangeError", message: /jobs 0/ });
    await rejects(folder, { minSaving: 1 }, { name: "RangeError", message: /minSaving 1/ });
  }));

test("precompress() names an option of the wrong type, as a program without types may give it", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "app.js": "x" });
    const cases: [options: object, message: RegExp][] = [
      [{ formats: "brotli" }, /^formats must be a list of formats, not "brotli"$/],
      [{ formats: [] }, /^formats is empty: name one of brotli, zstd, gzip$/],
      [{ include: "*.js" }, /^include must be a list of globs, not "\*\.js"$/],
      [{ exclude: [5] }, /^exclude\[0\] must be a string, not 5$/],
      [{ levels: { br: 5 } }, /^precompress\(\): unknown option "levels\.br": use brotli, zstd, gzip$/],
      [{ levels: 5 }, /^levels must be an object, not 5$/],
      [{ out: 5 }, /^out must be the path of a folder, not 5$/],
      [{ out: "" }, /^out must be the path of a folder, not ""$/],
      [{ previous: true }, /^previous must be the path of a folder or a list of up to 3 folders, not true$/],
      [{ cache: {} }, /^cache must be the path of a folder or s3:\/\/BUCKET\/PREFIX, not an Object$/],
      [{ force: "false" }, /^force must be true or false, not "false"$/],
    ];
    for (const [options, message] of cases) {
      await assert.rejects(precompress(folder, options), { name: "TypeError", message });
    }
    const missing = undefined as unknown as string;
    const message = "cannot read undefined: name the folder by its path";
    await assert.rejects(precompress(missing), { name: "TypeError", message });
  }));

test("precompress() stops at once when its signal aborts, and leaves no temporary file", () =>
  inFolder(async (folder) => {
    await writeTree(
      folder,
      Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`big${i}.js`, sourceText(600_000, i + 1)])),
    );
    const abort = new AbortController();
    const running = precompress(folder, { signal: abort.signal });
    setTimeout(() => abort.abort(new Error("enough")), 300);
    await assert.rejects(running, { message: "enough" });
    assert.ok(!(await listed(folder)).some((path) => path.endsWith(".tmp")));
    await assert.rejects(precompress(folder, { signal: AbortSignal.abort(new Error("before")) }), {
      message: "before",
    });
  }));

for (const size of [60_000, 17 * 2 ** 20]) {
  test(
    `a job of ${size} bytes that is stopped ends early, and leaves no file open`,
    { skip: cannotListOpenFiles },
    () =>
      inFolder(async (folder) => {
        const [source, temporary] = [join(folder, "page.html"), join(folder, "temporary")];
        const bytes = Buffer.alloc(size, sourceText(50_000));
        await writeFile(source, bytes);
        const { mtimeMs, mode } = await stat(source);
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        const job = {
          path: "page.html",
          source,
          temporary,
          format: "brotli",
          level: 2,
          sha256,
          size,
          mtimeMs,
          mode,
        } as const;
        for (let turns = 0; turns < 20; turns = 2 * turns + 1) {
          await writeFile(temporary, "");
          const stopping = new AbortController();
          const outcomes: unknown[] = [];
          const running = runJob({ ...job, limit: size }, (message) => outcomes.push(message), stopping.signal);
          for (let i = 0; i < turns; i++) await turn();
          stopping.abort(new Error("stopped"));
          await running;
          assert.deepEqual(openFilesIn(folder), []);
          const { message } = outcomes.at(-1) as { message?: string };
          if (turns === 0 || size > 2 ** 20) assert.equal(message, "stopped");
        }
      }),
  );
}

test("precompress() tells its progress up to the end", () =>
  inFolder(async (folder) => {
    await writeSite(folder);
    const fractions: number[] = [];
    await precompress(folder, { ...quick, onProgress: ({ fraction }) => fractions.push(fraction) });
    assert.equal(fractions.at(-1), 1);
    assert.ok(fractions.every((fraction, i) => i === 0 || fraction >= fractions[i - 1]! || fraction < 1));
  }));

test("precompress() streams files that are too large to hold, with the same outcome on a second run", () =>
  inFolder(async (folder) => {
    const part = sourceText(50_000, 4);
    const large = Buffer.concat(Array.from({ length: 360 }, () => part));
    await writeTree(folder, { "large.txt": large });
    const levels = { brotli: 1, zstd: 1, gzip: 1 };
    const fractions: number[] = [];
    const onProgress = ({ fraction }: { fraction: number }) => fractions.push(fraction);
    assert.deepEqual((await precompress(folder, { levels, onProgress })).problems, []);
    assert.ok(fractions.some((fraction) => fraction > 0 && fraction < 0.1), "progress is told on the way");
    assert.equal(fractions.at(-1), 1);
    for (const [suffix, format] of [["br", "brotli"], ["gz", "gzip"], ["zst", "zstd"]] as const) {
      const variant = await readFile(join(folder, `large.txt.${suffix}`));
      assert.ok(large.equals(await decompress(variant, { format })), format);
    }
    assert.deepEqual((await precompress(folder, { levels })).compressed, []);
  }));

test("the manifest records hash, sizes and variants of every file, and why there are none", () =>
  inFolder(async (folder) => {
    await writeMade(folder);
    const manifest = await readManifest(folder);
    assert.deepEqual(Object.keys(manifest!.files), originals);
    for (const path of originals) {
      const record = manifest!.files[path]!;
      assert.equal(record.size, (await stat(join(folder, path))).size);
      assert.match(record.sha256, /^[0-9a-f]{64}$/);
      for (const [format, variant] of Object.entries(record.variants)) {
        assert.equal(variant.state, "kept", `${path} ${format}`);
      }
    }
    assert.deepEqual(manifest!.files["picture.png"]!.variants, {});
  }));
