import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, chown, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { decompress } from "../../lib/codecs/mod.ts";
import { extensions } from "../../lib/precompress/formats.ts";
import { cleanPrecompressed, manifestName, precompress, readManifest } from "../../lib/precompress/mod.ts";
import { explain } from "../../lib/precompress/problem.ts";
import { Target } from "../../lib/precompress/target.ts";
import { unknownPlaces } from "../../lib/precompress/plan_site.ts";
import { sourceText } from "../support/bytes.ts";
import { contents, inFolder, listed, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";

const quick = { levels: { brotli: 5, zstd: 3, gzip: 6 }, jobs: 1 } as const;
const page = "<p>The mill turns.</p>\n".repeat(300);
const told = (problems: readonly { path: string; message: string }[]) =>
  problems.map(({ path, message }) => `${path}: ${message}`);

test("a variant that its user replaced stays, whether its file changes, goes or is cleaned", () =>
  inFolder(async (folder) => {
    const files = { "changed.csv": page, "gone.csv": page, "kept.csv": page, "cleaned.csv": page };
    await writeTree(folder, files);
    await precompress(folder, quick);
    const theirs = Object.fromEntries(Object.keys(files).map((path) => [`${path}.gz`, gzipSync(`theirs: ${path}`)]));
    await writeTree(folder, theirs);
    await writeTree(folder, { "changed.csv": `${page}more` });
    await rm(join(folder, "gone.csv"));
    const { problems, removed } = await precompress(folder, quick);
    assert.deepEqual(told(problems), [
      "changed.csv.gz: it is in the way and not made from changed.csv: remove it, exclude that, or use --force",
      "cleaned.csv.gz: it is in the way and not made from cleaned.csv: remove it, exclude that, or use --force",
      "gone.csv.gz: it is not what was written there, so it stays: remove it if nobody needs it",
      "kept.csv.gz: it is in the way and not made from kept.csv: remove it, exclude that, or use --force",
    ]);
    assert.deepEqual(removed, ["gone.csv.br", "gone.csv.zst"]);
    assert.ok((await listed(folder)).includes("changed.csv.br"), "what is made again is not removed");
    const again = await precompress(folder, quick);
    assert.equal(again.problems.length, 3, "a file that is gone is told once");
    await cleanPrecompressed(folder);
    for (const [path, bytes] of Object.entries(theirs)) assert.deepEqual(await readFile(join(folder, path)), bytes);
  }));

test("a variant that its user replaced just before it is cleaned stays, and is told", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "page.html": page });
    await precompress(folder, quick);
    await writeFile(join(folder, "page.html.br"), "theirs");
    const { removed, problems } = await cleanPrecompressed(folder);
    assert.deepEqual(removed, [manifestName, "page.html.gz", "page.html.zst"]);
    assert.deepEqual(told(problems), [
      "page.html.br: it is not what was written there, so it stays: remove it if nobody needs it",
    ]);
    assert.deepEqual(await listed(folder), ["page.html", "page.html.br"]);
  }));

test("a variant that can be neither replaced nor removed is a problem, of one file, and is not recorded as a form of it", (t) =>
  inFolder(async (folder) => {
    const options = { ...quick, formats: ["brotli", "zstd"] } as const;
    const files = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${i}.html`, `${page}${i}`]));
    await writeTree(folder, files);
    await precompress(folder, options);
    for (const path in files) await writeTree(folder, { [path]: `${page}more of ${path}` });
    const { put, remove } = Target.prototype;
    const refuse = (path: string): void => {
      if (path.endsWith(".br")) throw Object.assign(new Error("EPERM"), { code: "EPERM" });
    };
    t.mock.method(Target.prototype, "put", async function (this: Target, ...args: Parameters<Target["put"]>) {
      refuse(args[0]);
      return await put.apply(this, args);
    });
    t.mock.method(Target.prototype, "remove", async function (this: Target, path: string) {
      refuse(path);
      return await remove.call(this, path);
    });
    for (let run = 0; run < 2; run++) {
      const { problems } = await precompress(folder, options);
      const paths = Object.keys(files).map((path) => `${path}.br`).sort();
      assert.deepEqual(told(problems), paths.map((path) => `${path}: ${explain({ code: "EPERM" })}`));
      for (const [path, { variants }] of Object.entries((await readManifest(folder))!.files)) {
        const old = await readFile(join(folder, `${path}.br`));
        const zstd = await decompress(await readFile(join(folder, `${path}.zst`)), { format: "zstd" });
        assert.deepEqual(Buffer.from(zstd), await readFile(join(folder, path)));
        assert.equal(variants.brotli!.state, "unworthy");
        assert.equal(variants.brotli!.sha256, createHash("sha256").update(old).digest("hex"));
      }
    }
    t.mock.restoreAll();
    assert.deepEqual((await precompress(folder, options)).problems, []);
    assert.equal(
      (await decompress(await readFile(join(folder, "0.html.br")), { format: "brotli" })).length,
      page.length + 14,
    );
  }));

test("another tool's compressed form stays to the byte, whatever it saves, and is used", () =>
  inFolder(async (folder) => {
    const theirs = gzipSync(page, { level: 1 });
    await writeTree(folder, { "rel.tar": page, "rel.tar.gz": theirs });
    for (const minSaving of [0.6, 0.999, 0.05]) {
      const { found, problems, removed } = await precompress(folder, { ...quick, minSaving });
      assert.deepEqual([found, problems, removed.includes("rel.tar.gz")], [["rel.tar.gz"], [], false]);
      assert.deepEqual(await readFile(join(folder, "rel.tar.gz")), theirs);
      const record = (await readManifest(folder))!.files["rel.tar"]!.variants.gzip!;
      assert.deepEqual([record.state, record.size], ["found", theirs.length]);
    }
    assert.equal((await precompress(folder, quick)).unchanged, 1);
    await writeTree(folder, { "rel.tar": `${page}more` });
    assert.match(told((await precompress(folder, quick)).problems).join(), /^rel\.tar\.gz: it is in the way/);
    await rm(join(folder, "rel.tar"));
    await precompress(folder, quick).catch(() => {});
    await cleanPrecompressed(folder);
    assert.deepEqual(await readFile(join(folder, "rel.tar.gz")), theirs);
  }));

test("a .gz of several members, of which browsers read the first, is in the way; several zstd frames are a form", () =>
  inFolder(async (folder) => {
    const [first, second] = [page.slice(0, page.length / 2), page.slice(page.length / 2)];
    const members = Buffer.concat([gzipSync(first), gzipSync(second)]);
    const frames = Buffer.concat([zstdCompressSync(first), zstdCompressSync(second)]);
    const files = {
      "a.gff3": page,
      "a.gff3.gz": members,
      "b.gff3": page,
      "b.gff3.gz": Buffer.concat([gzipSync(page), gzipSync("")]),
      "d.gff3": page,
      "d.gff3.gz": Buffer.concat([gzipSync(""), gzipSync(page)]),
    };
    await writeTree(join(folder, "site"), { ...files, "c.gff3": page, "c.gff3.zst": frames });
    for (const out of [undefined, join(folder, "out")]) {
      const { found, problems } = await precompress(join(folder, "site"), { ...quick, ...(out && { out }) });
      assert.deepEqual(found, ["c.gff3.zst"]);
      assert.deepEqual(
        told(problems),
        ["a", "b", "d"].map((name) =>
          `${name}.gff3.gz: it is in the way and not made from ${name}.gff3: ` +
          "remove it, exclude that, or use --force"
        ),
      );
    }
    const manifest = join(folder, "site", manifestName); // of a version that took every gzip file that decodes
    const { files: records } = JSON.parse(await readFile(manifest, "utf8"));
    const sha256 = createHash("sha256").update(members).digest("hex");
    records["a.gff3"].variants.gzip = {
      ...records["c.gff3"].variants.gzip,
      state: "found",
      size: members.length,
      sha256,
    };
    await writeFile(manifest, JSON.stringify({ version: 1, copied: false, files: records }));
    const { found, problems } = await precompress(join(folder, "site"), quick);
    assert.deepEqual([found, problems.length], [["c.gff3.zst"], 3]);
  }));

test("a link that leads out of the folder is told and not followed, unless followLinks asks for it", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(folder, { "site/page.html": page, "else/lib.js": sourceText(5000), "secret.txt": page });
    await symlink("../else", join(site, "vendor"));
    await symlink("../secret.txt", join(site, "notes.txt"));
    await symlink("page.html", join(site, "alias.html"));
    const expected = ["notes.txt", "vendor"].map((path) =>
      `${path}: the symbolic link leads out of the folder: exclude it, or pass --follow-links`
    );
    const inPlace = await precompress(site, quick);
    assert.deepEqual(told(inPlace.problems), expected);
    assert.deepEqual(inPlace.compressed, ["alias.html", "page.html"]);
    assert.deepEqual(await listed(join(folder, "else")), ["lib.js"]);
    assert.deepEqual(told((await precompress(site, { ...quick, out })).problems), expected);
    assert.deepEqual((await listed(out)).filter((path) => /vendor|notes/.test(path)), []);
    assert.deepEqual((await precompress(site, { ...quick, exclude: ["vendor", "notes.txt"] })).problems, []);
    const followed = await precompress(site, { ...quick, followLinks: true });
    assert.deepEqual([followed.problems, followed.compressed], [[], ["notes.txt", "vendor/lib.js"]]);
    assert.ok((await listed(join(folder, "else"))).includes("lib.js.br"));
  }));

test(
  "cleaning does not follow a link that came to lead out of the folder",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const site = join(folder, "site");
      await writeTree(folder, { "site/page.html": page, "site/lib/a.js": sourceText(5000) });
      await precompress(site, quick);
      await rename(join(site, "lib"), join(folder, "elsewhere"));
      const before = await contents(join(folder, "elsewhere"));
      await symlink("../elsewhere", join(site, "lib"));
      const { problems } = await cleanPrecompressed(site);
      assert.deepEqual(problems.map(({ path }) => path), ["lib/a.js.br", "lib/a.js.gz", "lib/a.js.zst"]);
      assert.match(problems[0]!.message, /a symbolic link on its way leads out of the folder/);
      assert.deepEqual(await contents(join(folder, "elsewhere")), before);
      assert.deepEqual(await listed(site), ["page.html"]);
    }),
);

test(
  "a folder that several links in the tree lead to is compressed once, where it is",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "v2/a.js": sourceText(5000), ".hidden/b.js": sourceText(6000) });
      await symlink("v2", join(folder, "current"));
      await symlink("v2", join(folder, "latest"));
      await symlink(".hidden", join(folder, "shown"));
      const { compressed, problems } = await precompress(folder, quick);
      assert.deepEqual([compressed, problems], [["shown/b.js", "v2/a.js"], []]);
      assert.equal((await precompress(folder, quick)).unchanged, 2);
      await rm(join(folder, "current"));
      await rename(join(folder, "v2"), join(folder, "v3"));
      await rm(join(folder, "latest"));
      await symlink("v3", join(folder, "latest"));
      const after = await precompress(folder, quick);
      assert.deepEqual([after.problems, after.compressed, after.removed], [[], [], []]);
      assert.equal((await listed(join(folder, "v3"))).length, 4);
    }),
);

test("a folder with a backslash in its name is not taken for another", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "v1\\lib/a.js": sourceText(5000), "lib/b.js": sourceText(5000) });
    assert.equal((await precompress(folder, quick)).compressed.length, 2);
  }));

test("variants that were written through a link to a folder go once the link or the file does", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    const site = join(folder, "site");
    const files = { "site/page.html": page, "site/.hidden/b.js": sourceText(6000), "else/c.js": sourceText(7000) };
    await writeTree(folder, { ...files, "site/.next/e.js": sourceText(9000) });
    const options = { ...quick, followLinks: true };
    for (const target of [".hidden", "../else"]) await symlink(target, join(site, target.slice(-4)));
    assert.equal((await precompress(site, options)).compressed.length, 3);
    await rm(join(site, "else"));
    await rm(join(site, "dden"));
    await symlink(".next", join(site, "dden")); // the path has another file now
    const changed = await precompress(site, quick);
    assert.deepEqual([changed.problems, changed.removed], [
      [],
      [".br", ".gz", ".zst"].map((each) => `.hidden/b.js${each}`),
    ]);
    assert.equal((await listed(join(folder, "else"))).length, 4, "outside of the folder nothing is removed unasked");
    const asked = await precompress(site, options);
    assert.deepEqual([asked.problems, asked.removed], [
      [],
      [".br", ".gz", ".zst"].map((each) => `../else/c.js${each}`),
    ]);
    assert.deepEqual(await listed(join(folder, "else")), ["c.js"]);
  }));

test("files called like members of every object are compressed, recorded and cleaned", () =>
  inFolder(async (folder) => {
    const names = ["__proto__", "constructor", "hasOwnProperty", "toString", "valueOf"];
    await writeTree(folder, Object.fromEntries(names.map((name) => [`${name}`, page])));
    await writeTree(folder, Object.fromEntries([["__proto__", page]]));
    await writeFile(join(folder, "__proto__"), page);
    const before = await listed(folder);
    const { compressed, problems } = await precompress(folder, quick);
    assert.deepEqual([compressed, problems], [names, []]);
    const { files } = (await readManifest(folder))!;
    assert.deepEqual(Object.keys(files).sort(), names);
    assert.equal(files["__proto__"]!.variants.brotli!.state, "kept");
    assert.equal(Object.getPrototypeOf(files), null);
    assert.equal((await precompress(folder, quick)).unchanged, names.length);
    await cleanPrecompressed(folder);
    assert.deepEqual(await listed(folder), before);
  }));

test("a lost manifest: variants of what the files hold are taken back, others are named, and --force takes them", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "same.js": sourceText(5000, 1), "changed.js": sourceText(5000, 2) });
    await precompress(folder, quick);
    const before = await contents(folder);
    await rm(join(folder, manifestName));
    await writeTree(folder, { "changed.js": sourceText(5000, 3) });
    for (let i = 0; i < 2; i++) {
      const { problems, unchanged, compressed } = await precompress(folder, quick);
      assert.deepEqual(
        told(problems),
        [".br", ".gz", ".zst"].map((suffix) =>
          `changed.js${suffix}: it is in the way and not made from changed.js: remove it, exclude that, or use --force`
        ),
      );
      assert.deepEqual([unchanged, compressed], [1, []], "a file with problems is not unchanged");
    }
    for (const suffix of [".br", ".gz", ".zst"]) {
      assert.equal((await contents(folder))[`same.js${suffix}`], before[`same.js${suffix}`]);
    }
    assert.deepEqual((await precompress(folder, { ...quick, force: true })).problems, []);
    const bytes = await decompress(await readFile(join(folder, "changed.js.br")), { format: "brotli" });
    assert.deepEqual(Buffer.from(bytes), Buffer.from(sourceText(5000, 3)));
    await writeTree(folder, { "changed.js": sourceText(5000, 4) });
    assert.deepEqual((await precompress(folder, quick)).problems, [], "they are known again");
  }));

test("with out, a folder with files that no run put there is refused; with force they stay unless in the way", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(folder, { "site/index.html": page, "out/index.html": "theirs", "out/notes.txt": "theirs" });
    await assert.rejects(precompress(site, { ...quick, out }), {
      message:
        `${out} holds files that no run put there (index.html, notes.txt): choose an empty folder, or use --force`,
    });
    assert.deepEqual(await contents(out), {
      "index.html": Buffer.from("theirs").toString("base64"),
      "notes.txt": Buffer.from("theirs").toString("base64"),
    });
    await precompress(site, { ...quick, out, force: true });
    assert.equal(await readFile(join(out, "index.html"), "utf8"), page);
    await writeTree(folder, { "site/index.html": `${page}more`, "site/notes.txt": "ours" });
    const { problems } = await precompress(site, { ...quick, out });
    assert.deepEqual(told(problems), [
      "notes.txt: it is in the way and not what a run copied there: remove it, or use --force",
    ]);
    assert.equal(await readFile(join(out, "notes.txt"), "utf8"), "theirs");
    await writeFile(join(out, "index.html"), "edited");
    await rm(join(site, "notes.txt"));
    await rm(join(site, "index.html"));
    await writeTree(site, { "other.html": page });
    await precompress(site, { ...quick, out });
    assert.equal(await readFile(join(out, "index.html"), "utf8"), "edited", "an edited copy is not removed");
    assert.equal(await readFile(join(out, "notes.txt"), "utf8"), "theirs");
  }));

test("with out, a file of somebody else's with the bytes of the copy is used, and stays when the original goes", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(folder, { "site/index.html": page, "site/app.js": sourceText(5000, 1) });
    await precompress(site, { ...quick, out });
    await writeTree(folder, { "site/legal.html": page, "out/legal.html": page });
    await chmod(join(out, "legal.html"), 0o600);
    const before = await stat(join(out, "legal.html"));
    for (let run = 1; run <= 2; run++) {
      const report = await precompress(site, { ...quick, out });
      assert.deepEqual([report.problems, report.copied], [[], []]);
      const after = await stat(join(out, "legal.html"));
      assert.deepEqual([after.mode, after.mtimeMs], [before.mode, before.mtimeMs], "it is not touched");
      assert.equal((await readManifest(out))!.files["legal.html"]!.found, true);
    }
    await rm(join(site, "legal.html"));
    await precompress(site, { ...quick, out });
    assert.equal(await readFile(join(out, "legal.html"), "utf8"), page);
    assert.deepEqual((await listed(out)).filter((name) => name.startsWith("legal")), ["legal.html"]);
    await writeTree(folder, { "site/legal.html": page });
    await precompress(site, { ...quick, out });
    await cleanPrecompressed(out);
    assert.deepEqual(await listed(out), ["legal.html"]);
    await writeTree(folder, { "site/legal.html": `${page}more` });
    await assert.rejects(precompress(site, { ...quick, out }), /holds files that no run put there/);
    await writeTree(folder, { "site/legal.html": page });
    await precompress(site, { ...quick, out, force: true });
    assert.equal((await readManifest(out))!.files["legal.html"]!.found, undefined, "force makes it a copy");
  }));

test("with out, the copy of a variant goes with it, also where a variant of a file that is in the way was before", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, { "page.html": page, "other.txt": "other" });
    await precompress(site, { ...quick, out });
    await precompress(site, quick);
    await rm(join(site, manifestName)); // the variants in the site are files like others now
    await writeTree(out, { "page.html": "theirs" });
    await precompress(site, { ...quick, out });
    for (const path of await listed(site)) if (/\.(?:br|zst|gz)$/.test(path)) await rm(join(site, path));
    await precompress(site, { ...quick, out });
    assert.deepEqual(await listed(out), [manifestName, "other.txt", "page.html"]);
  }));

test("with out, nothing is left of the variants of a file whose copy has a folder or a link to one in its way", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    const scripts = { "a.js": sourceText(5000, 1), "b.js": sourceText(5000, 2), "c.js": sourceText(5000, 3) };
    await writeTree(site, scripts);
    await precompress(site, { ...quick, out });
    for (const name of ["a.js", "b.js"]) await rm(join(out, name));
    await writeTree(out, { "a.js/mine.txt": "theirs" });
    await symlink(".", join(out, "b.js"));
    const { problems, removed } = await precompress(site, { ...quick, out });
    assert.deepEqual(told(problems), [
      "a.js: a folder is in the way: remove it and run again",
      "b.js: a symbolic link to a folder is in the way: remove it",
    ]);
    assert.deepEqual(removed, ["a.js.br", "a.js.gz", "a.js.zst", "b.js.br", "b.js.gz", "b.js.zst"]);
    assert.deepEqual(Object.keys((await readManifest(out))!.files), ["c.js"]);
    assert.equal(await readFile(join(out, "a.js/mine.txt"), "utf8"), "theirs");
  }));

test("an empty folder is an error, and empties no copy", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, { "index.html": page });
    await precompress(site, { ...quick, out });
    const before = await contents(out);
    await rm(join(site, "index.html"));
    const message = /^there are no files in .*site: build first, or name another folder$/;
    await assert.rejects(precompress(site, { ...quick, out }), { message });
    await assert.rejects(precompress(site, quick), { message });
    assert.deepEqual(await contents(out), before);
  }));

test("with out, folders that a run has emptied go, whoever made them, and no others", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, { "a/b/c.js": sourceText(3000), "d/e.txt": page, "f": "a file", "g/h/i.txt": page });
    await mkdir(join(out, "k/l"), { recursive: true });
    await writeTree(site, { "k/l/m.txt": page });
    await precompress(site, { ...quick, out, force: true });
    for (const path of ["theirs/deep", "g/h/theirs"]) await mkdir(join(out, path), { recursive: true });
    await writeTree(out, { "d/theirs.txt": "theirs" });
    await rm(join(site, "a"), { recursive: true });
    for (const path of ["d", "f", "g", "k"]) await rm(join(site, path), { recursive: true });
    await writeTree(site, { "a": "a file now", "f/g.txt": page });
    const { problems } = await precompress(site, { ...quick, out });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      (await listed(out)).filter((path) => !/\.(br|gz|zst|json)$/.test(path)),
      ["a", "d/theirs.txt", "f/g.txt"],
    );
    for (const path of ["theirs/deep", "g/h/theirs"]) assert.ok((await stat(join(out, path))).isDirectory(), path);
  }));

test("names that begin with a dot are passed over, but for .well-known, unless dotfiles asks for them", () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, {
      ".env": page,
      ".git/hooks/pre-commit": page,
      ".well-known/security.txt": page,
      "docs/.htaccess": page,
      "index.html": page,
    });
    const dry = await precompress(site, { ...quick, dryRun: true });
    assert.deepEqual([dry.compressed, dry.dotfiles], [[".well-known/security.txt", "index.html"], 3]);
    await precompress(site, { ...quick, out });
    assert.deepEqual((await listed(out)).filter((path) => !/\.(br|gz|zst)$/.test(path)), [
      manifestName,
      ".well-known/security.txt",
      "index.html",
    ]);
    const all = await precompress(site, { ...quick, out, dotfiles: true });
    assert.equal(all.dotfiles, 0);
    assert.deepEqual(all.compressed, [".env", ".git/hooks/pre-commit", "docs/.htaccess"]);
    const { removed } = await precompress(site, { ...quick, out });
    assert.equal(removed.length, 12, "what a run made of them before goes");
  }));

test("permissions and times of variants follow those of their file", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "page.html": page });
    await precompress(folder, quick);
    await chmod(join(folder, "page.html"), 0o640);
    const report = await precompress(folder, quick);
    assert.equal(report.unchanged, 1);
    const modes = await Promise.all(["br", "gz", "zst"].map((suffix) => stat(join(folder, `page.html.${suffix}`))));
    assert.deepEqual(modes.map(({ mode }) => mode & 0o777), [0o640, 0o640, 0o640]);
  }));

test("variants and copies belong to the group of their file, so that they are readable for the same users", {
  skip: process.getuid?.() !== 0 && "only a superuser may give files to any group",
}, () =>
  inFolder(async (folder) => {
    const [site, out] = [join(folder, "site"), join(folder, "out")];
    await writeTree(site, { "page.html": page });
    const owned = async (at: string) => {
      const found = await Promise.all(
        (await listed(at)).filter((path) => path.startsWith("page")).map((path) => stat(join(at, path))),
      );
      return new Set(found.map(({ uid, gid, mode }) => `${uid}:${gid} ${(mode & 0o777).toString(8)}`));
    };
    for (const group of [33, 34]) {
      await chown(join(site, "page.html"), 1000, group);
      await chmod(join(site, "page.html"), 0o640);
      await precompress(site, quick);
      await precompress(site, { ...quick, out });
      for (const at of [site, out]) assert.deepEqual(await owned(at), new Set([`1000:${group} 640`]));
    }
    const variant = join(site, "page.html.gz");
    const { geteuid, getgroups } = process;
    // As a run left it that might not set the group; later ones by its user, by a member of the group, and by the superuser.
    for (
      const [user, groups, expected] of [[1000, [7], "1000:7 600"], [1000, [7, 34], "1000:34 640"], [
        0,
        [0],
        "",
      ]] as const
    ) {
      await chown(variant, user, 7);
      await chmod(variant, 0o600);
      Object.assign(process, { geteuid: () => user, getgroups: () => groups });
      await precompress(site, quick).finally(() => Object.assign(process, { geteuid, getgroups }));
      assert.deepEqual(await owned(site), new Set(["1000:34 640", expected || "1000:34 640"]));
    }
  }));

test("what a run says that it removed was there, and a dry run says the same", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "a.html": page, "b.html": page });
    await precompress(folder, quick);
    await rm(join(folder, "a.html"));
    await rm(join(folder, "a.html.br"));
    const expected = ["a.html.gz", "a.html.zst"];
    assert.deepEqual((await precompress(folder, { ...quick, dryRun: true })).removed, expected);
    assert.deepEqual((await precompress(folder, quick)).removed, expected);
  }));

test("names that are too long for a variant, folders and links in its place are told, and the others are made", {
  skip: needs("links"),
}, () =>
  inFolder(async (folder) => {
    const long = "n".repeat(252); // .br and .gz just fit, .zst does not
    await writeTree(folder, { [long]: page, "app.js": sourceText(5000), "lib.js": sourceText(6000) });
    await mkdir(join(folder, "app.js.gz"));
    await symlink("nowhere", join(folder, "lib.js.br"));
    const { problems, compressed } = await precompress(folder, quick);
    assert.deepEqual(told(problems), [
      "app.js.gz: a folder is in the way: remove it and run again",
      "lib.js.br: the symbolic link leads nowhere: remove or exclude it",
      "lib.js.br: a symbolic link that leads nowhere is in the way: remove it",
      `${long}.zst: the name is too long: shorten or exclude it`,
    ]);
    assert.deepEqual(compressed, ["app.js", "lib.js", long]);
    assert.ok((await listed(folder)).includes(`${long}.br`));
  }));

test(
  "a name that is not UTF-8 is told, and the others are done",
  { skip: needs("names") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "page.html": page });
      // By a shell: Deno writes such names otherwise.
      const script = 'n() { printf "$1"; }; mkdir "$(n "d\\376")"; cp page.html "$(n "d\\376")/in.html"; ' +
        'cp page.html "$(n "caf\\351.html")"; cp page.html "$(n "two\\357\\277\\275.html")"; ln -s page.html "$(n "two\\377.html")"';
      const { status } = spawnSync("sh", ["-c", script], { cwd: folder });
      assert.equal(status, 0);
      const { problems, compressed } = await precompress(folder, quick);
      const names = ["caf\ufffd.html", "d\ufffd", "two\ufffd.html"];
      assert.deepEqual(told(problems).sort(), names.map((name) => `${name}: its name is not UTF-8: rename it`));
      assert.deepEqual(compressed, ["page.html", "two\ufffd.html"]);
    }),
);

test("written files below many unreadable places are found by name: each is compared with few, however many there are", () => {
  const small = ["a", "a/b", "c.js", "d.js.br", "e/f.css", "e", "g.gz"];
  const isUnknown = unknownPlaces(new Set(small));
  const parts = ["a", "b", "c.js", "d.js", "e", "f.css", "g", "x"];
  for (const first of parts) {
    for (const second of ["", ...parts.map((part) => `/${part}`)]) {
      for (const suffix of ["", ".br", ".gz", ".zst", ".dcb", ".2.dcz", ".br.gz", ".other"]) {
        const path = first + second + suffix;
        const isMeant = small.some((place) =>
          path.startsWith(`${place}/`) || ["", ...Object.values(extensions)].some((end) => path === place + end)
        );
        assert.equal(isUnknown(path), isMeant, path);
      }
    }
  }
  const many = unknownPlaces(new Set(Array.from({ length: 5000 }, (_, i) => `gone/${i}.txt`)));
  const started = performance.now();
  for (let i = 0; i < 5000; i++) assert.equal(many(`there/${i}.txt.gz`), false);
  assert.ok(performance.now() - started < 3000);
});

test("a compressed file of somebody's own whose original went is left alone from then on", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "own.css": page, "own.css.br": brotliCompressSync(page), "index.html": page });
    await precompress(folder, quick);
    await rm(join(folder, "own.css"));
    const { problems, removed } = await precompress(folder, quick);
    assert.deepEqual([problems, removed], [[], ["own.css.gz", "own.css.zst"]]);
    assert.ok((await listed(folder)).includes("own.css.br"));
  }));
