import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, realpath, rename, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { scanTree } from "../../../lib/static/scan/scan_tree.ts";
import { inFolder, writeTree } from "../../support/folders.ts";
import { codingsOf, scanned, variantsOf } from "./scanned.ts";
import { needs } from "../../support/needs.ts";

const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("base64");
const isRoot = process.getuid?.() === 0;

test("scanTree() finds regular files with size, hash and time", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "index.html": "<p>mill</p>", "a/b/c.txt": "deep", "empty.txt": "" });
    await mkdir(join(folder, "nothing/here"), { recursive: true });
    await utimes(join(folder, "index.html"), 1.7e9, 1.7e9);
    const { files, warnings } = await scanned(folder);
    assert.deepEqual([...files.keys()].sort(), ["a/b/c.txt", "empty.txt", "index.html"]);
    const { identity, mtimeMs } = files.get("index.html")!;
    assert.equal(mtimeMs, 1.7e12);
    assert.deepEqual([identity.size, identity.sha256, identity.mtimeMs], [11, sha256("<p>mill</p>"), 1.7e12]);
    assert.equal(identity.file, join(await realpath(folder), "index.html"));
    assert.equal(files.get("empty.txt")!.identity.sha256, sha256(""));
    assert.deepEqual(warnings, []);
  }));

test("scanTree() hashes files of more than a read", () =>
  inFolder(async (folder) => {
    const large = new Uint8Array(700_001).map((_, i) => i * 31 + (i >> 8));
    await writeTree(folder, { "large.bin": large, "exact.bin": large.subarray(0, 256 * 1024) });
    const { files } = await scanned(folder);
    assert.equal(files.get("large.bin")!.identity.sha256, sha256(large));
    assert.equal(files.get("large.bin")!.identity.size, 700_001);
    assert.equal(files.get("exact.bin")!.identity.sha256, sha256(large.subarray(0, 256 * 1024)));
  }));

test("scanTree() says in plain words why a folder cannot be served", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "file"), "");
    const warn = () => assert.fail("nothing to warn of");
    const missing = join(folder, "missing");
    await assert.rejects(scanTree(missing, warn, { dotfiles: false }), {
      name: "TypeError",
      message: `cannot serve ${missing}: there is no such folder`,
    });
    await assert.rejects(
      scanTree(join(folder, "file"), warn, { dotfiles: false }),
      /cannot serve .*file, not a folder/,
    );
    await assert.rejects(
      scanTree(join(folder, "file/x"), warn, { dotfiles: false }),
      /cannot serve .*(?:a file|no such folder)/,
    );
  }));

test("scanTree() leaves out names that begin with a dot, but not .well-known, nor any if asked to", () =>
  inFolder(async (folder) => {
    const ours = {
      ".millrace.json": "{}",
      ".millrace-1-0f.tmp": "half",
      "a/.millrace.json": "{}",
      ".millrace-lock-00000000.1.0.0-01234567": "",
      "a/.app.log.millrace-lock-00000000.1.0.0-01234567": "",
    };
    const open = { "a/index.html": "a", ".well-known/security.txt": "b" };
    const hidden = { ".env": "c", ".git/config": "d", "a/.htpasswd": "e", ".well-known/.hidden": "f" };
    await writeTree(folder, { ...ours, ...open, ...hidden });
    const paths = async (dotfiles: boolean) => [...(await scanned(folder, dotfiles)).files.keys()].sort();
    assert.deepEqual(await paths(false), Object.keys(open).sort());
    assert.deepEqual(await paths(true), Object.keys({ ...open, ...hidden }).sort());
  }));

test(
  "scanTree() follows links below the folder, and warns of others",
  { skip: needs("links") },
  () =>
    inFolder(async (outer) => {
      const folder = join(outer, "releases/42");
      await writeTree(outer, { "secret.txt": "s", "releases/42/a/page.html": "page", "releases/42-evil/x.txt": "x" });
      await symlink("releases/42", join(outer, "current"));
      await symlink("page.html", join(folder, "a/same.html"));
      await symlink("a", join(folder, "b"));
      await symlink("../a", join(folder, "a/loop"));
      await symlink(".", join(folder, "self"));
      await symlink("../../secret.txt", join(folder, "out.txt"));
      await symlink("../42-evil", join(folder, "sibling"));
      await symlink("/", join(folder, "root"));
      await symlink("gone", join(folder, "dangling"));
      await symlink("circle", join(folder, "circle"));
      await writeFile(join(folder, ".millrace.json"), '{"version":1,"files":{}}');
      await symlink(".millrace.json", join(folder, "manifest.json"));
      const { files, warnings } = await scanned(join(outer, "current"));
      assert.deepEqual([...files.keys()].sort(), ["a/page.html", "a/same.html", "b/page.html", "b/same.html"]);
      assert.equal(files.get("b/same.html")!.identity.file, join(await realpath(folder), "a/page.html"));
      const left = ["a/loop", "b/loop", "circle", "dangling", "out.txt", "root", "self", "sibling"];
      assert.deepEqual(warnings.map((warning) => warning.split(":")[0]), left);
      assert.ok(warnings.every((warning) => warning.includes("symbolic link is left out")));
    }),
);

test(
  "scanTree() leaves out what is no regular file",
  { skip: needs("links", "mkfifo") },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "a.txt": "a", "b.js": "b" });
      assert.equal(spawnSync("mkfifo", [join(folder, "pipe"), join(folder, "b.js.br")]).status, 0);
      await symlink("pipe", join(folder, "to-pipe"));
      await symlink("/dev/zero", join(folder, "zero"));
      const { files } = await scanned(folder);
      assert.deepEqual([...files.keys()].sort(), ["a.txt", "b.js"]);
      assert.deepEqual(codingsOf(files.get("b.js")), ["identity"]);
    }),
);

test("scanTree() takes .br, .zst and .gz beside a file for its variants, without one for files", () =>
  inFolder(async (folder) => {
    const made = await variantsOf("console.log(1);\n".repeat(100));
    await writeTree(folder, {
      "app.js": "console.log(1);\n".repeat(100),
      "download.tar.gz": made[".gz"],
      ".br": "no name",
    });
    for (const [extension, bytes] of Object.entries(made)) await writeFile(join(folder, `app.js${extension}`), bytes);
    await mkdir(join(folder, "folder"));
    await writeFile(join(folder, "folder.gz"), made[".gz"]);
    const { files, warnings } = await scanned(folder);
    assert.deepEqual(warnings, []);
    assert.deepEqual([...files.keys()].sort(), ["app.js", "download.tar.gz", "folder.gz"]);
    const { variants } = files.get("app.js")!;
    assert.deepEqual(codingsOf(files.get("app.js")), ["identity", "br", "zstd", "gzip"]);
    assert.deepEqual(variants.map(({ sha256 }) => sha256), Object.values(made).map(sha256));
  }));

test("scanTree() asks no times which variants are the file's: deploys give files any", () =>
  inFolder(async (folder) => {
    const text = "line\n".repeat(500);
    const made = await variantsOf(text);
    await writeTree(folder, {
      "a.txt": text,
      "a.txt.br": made[".br"],
      "a.txt.gz": made[".gz"],
      "a.txt.zst": made[".zst"],
    });
    for (const [path, seconds] of [["a.txt", 0.6], ["a.txt.br", 0.4], ["a.txt.gz", 0], ["a.txt.zst", -1]] as const) {
      await utimes(join(folder, path), 1.7e9 + seconds, 1.7e9 + seconds);
    }
    const { files, warnings } = await scanned(folder);
    assert.deepEqual(codingsOf(files.get("a.txt")), ["identity", "br", "zstd", "gzip"]);
    assert.deepEqual(warnings, []);
  }));

test("scanTree() leaves out variants whose first or last bytes show that they are none", () =>
  inFolder(async (folder) => {
    const text = "line\n".repeat(500);
    const made = await variantsOf(text);
    const other = await variantsOf("line\n".repeat(499));
    await writeTree(folder, {
      "not.txt": text,
      "not.txt.gz": "no gzip at all",
      "not.txt.zst": "nor zstd",
      "not.txt.br": "", // no brotli stream is empty
      "not.txt.dcb": "no delta",
      "other.txt": text,
      "other.txt.gz": other[".gz"],
      "other.txt.zst": other[".zst"],
      "cut.txt": text,
      "cut.txt.gz": made[".gz"].subarray(0, -5),
      "cut.txt.zst": made[".zst"].subarray(0, 4),
    });
    const { files, warnings } = await scanned(folder);
    for (const file of files.values()) assert.deepEqual(codingsOf(file), ["identity"], file.path);
    assert.deepEqual(warnings.map((warning) => warning.split(":")[0]), [
      ...["cut.txt.gz", "cut.txt.zst", "not.txt.br", "not.txt.dcb", "not.txt.gz", "not.txt.zst"],
      ...["other.txt.gz", "other.txt.zst"],
    ]);
  }));

test("scanTree() reads in the head of a delta which dictionary it needs", () =>
  inFolder(async (folder) => {
    const dictionary = createHash("sha256").update("former").digest();
    const dcb = Buffer.concat([Buffer.from("ff444342", "hex"), dictionary, Buffer.from("stream")]);
    const dcz = Buffer.concat([Buffer.from("5e2a4d1820000000", "hex"), dictionary, Buffer.from("frame")]);
    await writeTree(folder, { "a.js": "now", "a.js.dcb": dcb, "a.js.dcz": dcz, "b.js": "now", "b.js.dcz": dcb });
    const { files, warnings } = await scanned(folder);
    const { variants, deltas } = files.get("a.js")!;
    assert.deepEqual(variants, []);
    assert.deepEqual(deltas.map(({ coding, dictionary }) => [coding, dictionary]), [
      ["dcb", dictionary.toString("base64")],
      ["dcz", dictionary.toString("base64")],
    ]);
    assert.deepEqual(codingsOf(files.get("b.js")), ["identity"]);
    assert.deepEqual(warnings, ["b.js.dcz: this variant is left out: it is not dcz"]);
  }));

test(
  "scanTree() warns of files and folders that it may not read, and goes on",
  { skip: needs("modes") || isRoot && "root may" },
  () =>
    inFolder(async (folder) => {
      await writeTree(folder, { "a.txt": "a", "b.txt": "b", "c/d.txt": "d", "a.txt.br": "x" });
      for (const path of ["b.txt", "c", "a.txt.br"]) await chmod(join(folder, path), 0);
      const { files, warnings } = await scanned(folder);
      await chmod(join(folder, "c"), 0o755);
      assert.deepEqual([...files.keys()], ["a.txt"]);
      assert.deepEqual(warnings, [
        "a.txt.br: this variant is left out: permission denied",
        "b.txt: it is left out: permission denied",
        "c: this folder is left out: permission denied",
      ]);
    }),
);

test("scanTree() lets other work go on while it reads", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "large.bin"), "");
    await truncate(join(folder, "large.bin"), 200_000_000);
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const { files } = await scanned(folder);
    clearInterval(counting);
    assert.equal(files.get("large.bin")!.identity.size, 200_000_000);
    assert.ok(turns >= 3, `${turns} turns`);
  }));

test("scanTree() survives a tree that is taken away under it", () =>
  inFolder(async (folder) => {
    const files = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i % 30}/${i}.txt`, `${i}`]));
    await writeTree(join(folder, "site"), files);
    const scanning = scanned(join(folder, "site"));
    await rename(join(folder, "site"), join(folder, "gone"));
    const found = await scanning.catch((error) => error);
    if (found instanceof Error) assert.match(found.message, /cannot serve/);
    else assert.equal(found.files.size + found.warnings.length >= 1, true);
  }));

/** The reason why links cannot be tested; false if they can. */
