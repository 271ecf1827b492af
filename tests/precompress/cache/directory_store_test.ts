import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { temporaryPath } from "../../../lib/files/mod.ts";
import { DirectoryStore } from "../../../lib/precompress/cache/directory_store.ts";
import { trailerBytes } from "../../../lib/precompress/cache/entry.ts";
import { sha256 } from "../../../lib/precompress/content.ts";
import { inFolder, listed, writeTree } from "../../support/folders.ts";
import { needs } from "../../support/needs.ts";

const unlimited = { maxSize: undefined, maxAge: undefined };

/** Puts entries of 100 bytes and a trailer, of which the last was used last; returns their paths. */
async function putEntries(folder: string, cache: string, count: number): Promise<string[]> {
  const store = await DirectoryStore.open(cache, unlimited);
  const [variant, bytes] = [join(folder, "variant"), new Uint8Array(100)];
  await writeFile(variant, bytes);
  const paths: string[] = [];
  for (let i = 0; i < count; i++) {
    const key = sha256(new Uint8Array([i]));
    await store.put(key, variant, trailerBytes({ key, sha256: sha256(bytes), size: 100 }));
    const { path } = (await store.get(key))!;
    await utimes(path, 1.7e9 + i, 1.7e9 + i);
    paths.push(path);
  }
  return paths;
}

/** Returns the entries that are left. */
async function left(cache: string): Promise<string[]> {
  return (await listed(cache)).map((path) => join(cache, path));
}

test("maxSize removes the entries that were not used for longest, and nothing that the cache did not write", () =>
  inFolder(async (folder) => {
    const cache = join(folder, "cache");
    const paths = await putEntries(folder, cache, 9);
    const strangers = {
      "notes.txt": "somebody's",
      "ab/notes.txt": "somebody's",
      [`ab/${"0".repeat(62)}.variant`]: "somebody's, of such a name",
      [`cd/${"0".repeat(62)}.variant`]: await readFile(paths[0]!), // an entry under a name that is not its own
      "long/0000.variant": "somebody's",
    };
    await writeTree(cache, strangers);
    for (const path of Object.keys(strangers)) await utimes(join(cache, path), 1e9, 1e9);
    await mkdir(join(cache, `ef/${"1".repeat(62)}.variant`), { recursive: true });
    await mkdir(join(cache, "ef"), { recursive: true });
    if (!needs("links")) await symlink(paths[0]!, join(cache, `ef/${"2".repeat(62)}.variant`));
    const abandoned = temporaryPath(join(cache, "x")).replace(`.${process.pid}-`, ".999999999-");
    await writeFile(abandoned, "half");
    const limits = { maxSize: 5 * 188 + 26 + 188, maxAge: undefined };
    assert.equal(await (await DirectoryStore.open(cache, limits)).end(), 4);
    const files = await left(cache);
    assert.deepEqual(paths.filter((path) => files.includes(path)), paths.slice(4));
    for (const path of Object.keys(strangers)) assert.ok(files.includes(join(cache, path)), path);
    assert.ok(!files.includes(abandoned), "a killed run's");
    assert.equal(await (await DirectoryStore.open(cache, { maxSize: 0, maxAge: undefined })).end(), 5);
    assert.equal((await left(cache)).length, Object.keys(strangers).length + 1);
  }));

test("maxAge removes the entries that no run has used for so long", () =>
  inFolder(async (folder) => {
    const cache = join(folder, "cache");
    const paths = await putEntries(folder, cache, 4);
    const store = await DirectoryStore.open(cache, { maxSize: undefined, maxAge: 3_600_000 });
    await store.get(sha256(new Uint8Array([2])));
    assert.equal(await store.end(), 3);
    assert.deepEqual((await left(cache)).filter((path) => path.endsWith(".variant")), [paths[2]]);
  }));

test("without limits nothing is removed", () =>
  inFolder(async (folder) => {
    const cache = join(folder, "cache");
    await putEntries(folder, cache, 4);
    assert.equal(await (await DirectoryStore.open(cache, unlimited)).end(), 0);
    assert.equal((await left(cache)).length, 5);
  }));

test("a cache is made of an empty folder or a new one, by several at once, and of nobody else's", () =>
  inFolder(async (folder) => {
    const cache = join(folder, "a/b/cache");
    await Promise.all(Array.from({ length: 8 }, () => DirectoryStore.open(cache, unlimited)));
    assert.deepEqual(await listed(cache), ["CACHEDIR.TAG"]);
    assert.match(await readFile(join(cache, "CACHEDIR.TAG"), "utf8"), /^Signature: 8a477f597d28d172789f06886806bc55\n/);
    const full = join(folder, "full");
    await writeTree(full, { "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Another program's\n" });
    await assert.rejects(DirectoryStore.open(full, unlimited), /cannot use .*full as a cache: it holds files/);
    await assert.rejects(
      DirectoryStore.open(join(full, "CACHEDIR.TAG"), unlimited),
      /cannot use .* as a cache: .*file/,
    );
    assert.deepEqual(await listed(full), ["CACHEDIR.TAG"]);
  }));

test("an entry is replaced whole while others read it", () =>
  inFolder(async (folder) => {
    const store = await DirectoryStore.open(join(folder, "cache"), unlimited);
    const key = sha256(new Uint8Array(1));
    assert.equal(await store.get(key), undefined);
    const sizes = [1e6, 2e6];
    const trailers = sizes.map((size) => trailerBytes({ key, sha256: key, size }));
    for (const size of sizes) await writeFile(join(folder, `${size}`), new Uint8Array(size));
    await store.put(key, join(folder, "1000000"), trailers[0]!);
    const writes = Array.from({ length: 20 }, (_, i) =>
      store.put(key, join(folder, `${sizes[i % 2]}`), trailers[i % 2]!));
    for (let i = 0; i < 40; i++) {
      const { path } = (await store.get(key))!;
      const { length } = await readFile(path);
      assert.ok(length === 1_000_088 || length === 2_000_088, `${length}`);
    }
    await Promise.all(writes);
    assert.deepEqual((await listed(join(folder, "cache"))).length, 2, "no temporary file is left");
    await assert.rejects(store.put(key, join(folder, "missing"), trailers[0]!));
    assert.deepEqual((await listed(join(folder, "cache"))).length, 2);
    assert.equal((await stat((await store.get(key))!.path)).mode & 0o600, 0o600);
  }));

test("a link, a pipe and a folder in the place of an entry are none, and the first two are replaced", {
  skip: needs("links", "mkfifo"),
}, () =>
  inFolder(async (folder) => {
    const cache = join(folder, "cache");
    const [path] = await putEntries(folder, cache, 1);
    const bytes = await readFile(path!);
    const store = await DirectoryStore.open(cache, unlimited);
    const key = sha256(new Uint8Array([0]));
    const other = join(folder, "other");
    await writeFile(other, bytes);
    await utimes(other, 1e9, 1e9);
    const places = [() => symlink(other, path!), () => execFileSync("mkfifo", [path!]), () => mkdir(path!)];
    for (const [i, place] of places.entries()) {
      await rm(path!);
      await place();
      assert.equal(await store.get(key), undefined);
      if (i === 2) break;
      await store.put(key, join(folder, "variant"), bytes.subarray(100));
      assert.deepEqual(await readFile((await store.get(key))!.path), bytes);
    }
    assert.equal((await stat(other)).mtimeMs, 1e12);
  }));
