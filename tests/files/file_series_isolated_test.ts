import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { NumberFileWriter, RotatingFileWritable, type RotationOptions } from "../../lib/files/mod.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { contents, openFilesIn } from "./written.ts";
import { needs } from "../support/needs.ts";

/** Writes items to files of one byte more than each takes. */
async function write(options: Omit<RotationOptions, "maxFileSize">, items: readonly string[]): Promise<void> {
  const writer = new RotatingFileWritable({ maxFileSize: 2, ...options }).getWriter();
  writer.closed.catch(() => {});
  for (const item of items) writer.write(item).catch(() => {});
  await writer.close();
}

test("files get their number before the extension of the name", () =>
  inFolder(async (folder) => {
    const ending = needs("names") ? [] : [["ends", "."]];
    for (
      const name of [
        "primes.txt",
        "no extension",
        ".hidden",
        "a.tar.gz",
        "ä-1.txt",
        ...ending.map((each) => each.join("")),
      ]
    ) {
      await write({ directory: folder, name }, ["ab", "cd"]);
    }
    const stems = [[".hidden", ""], ["a.tar", ".gz"], ...ending, ["no extension", ""], ["primes", ".txt"]];
    const names = [...stems, ["ä-1", ".txt"]].flatMap(([stem, extension]) =>
      ["00001", "00002"].map((number) => `${stem}-${number}${extension}`)
    );
    assert.deepEqual(Object.keys(contents(folder)), names);
  }));

test("files are called part.txt or numbers.txt unless told", () =>
  inFolder(async (directory) => {
    await write({ directory }, ["a"]);
    const writer = new NumberFileWriter({ directory, maxFileSize: 9 }).getWriter();
    void writer.write(1);
    await writer.close();
    assert.deepEqual(contents(directory), { "numbers-00001.txt": "1\n", "part-00001.txt": "a" });
  }));

test("files are called what a function makes of their numbers", () =>
  inFolder(async (directory) => {
    await write({ directory, name: (number) => `${"abc"[number - 1]}.log` }, ["1", "22", "3"]);
    assert.deepEqual(contents(directory), { "a.log": "1", "b.log": "22", "c.log": "3" });
  }));

test("a name that is no plain file name is refused", () =>
  inFolder(async (directory) => {
    for (const name of ["", ".", "..", "a/b.txt", "../x", "a\\b", "a\0", 12, null]) {
      const make = () => new RotatingFileWritable({ directory, maxFileSize: 1, name: name as string });
      assert.throws(make, {
        name: "TypeError",
        message: /^name must be a plain file name without a path or a function, not /,
      });
      const byFunction = write({ directory, name: () => name as string }, ["a"]);
      await assert.rejects(byFunction, { name: "TypeError", message: /^name\(1\) must be a plain file name/ });
    }
    assert.deepEqual(contents(directory), {});
  }));

test("a function that gives a name twice is refused, and the first file kept", () =>
  inFolder(async (directory) => {
    for (const overwrite of [false, true]) {
      const writing = write({ directory, name: () => `x-${overwrite}`, overwrite }, ["aa", "bb"]);
      const message = `name(2) is "x-${overwrite}", as of a file before: each file needs its own name`;
      await assert.rejects(writing, { name: "TypeError", message });
    }
    assert.deepEqual(contents(directory), { "x-false": "aa", "x-true": "aa" });
  }));

test("what a function throws errors the stream", () =>
  inFolder(async (directory) => {
    const name = (number: number): string => {
      if (number === 1) return "first";
      throw new Error("no more names");
    };
    await write({ directory, name }, ["a"]);
    await assert.rejects(write({ directory, name, overwrite: true }, ["bb", "c"]), { message: "no more names" });
    assert.deepEqual(contents(directory), { first: "bb" });
    assert.deepEqual(openFilesIn(directory), []);
  }));

test("files of the series that exist are refused before anything is written", () =>
  inFolder(async (folder) => {
    for (const atomic of [false, true]) {
      const directory = join(folder, String(atomic));
      await writeTree(directory, { "part-00007.txt": "7", "part-123456.txt": "8", "part-7.txt": "", "part.txt": "" });
      const before = contents(directory);
      const wayOut = "pass overwrite: true to replace what is there, or another name or directory";
      await assert.rejects(write({ directory, atomic }, ["a"]), {
        code: "EEXIST",
        message: `Cannot write to ${directory}: part-00007.txt and 1 more of its series exist already; ${wayOut}`,
      });
      const name = (number: number) => `part-${number + 6}.txt`;
      await assert.rejects(write({ directory, name, atomic }, ["a"]), { message: /: part-7\.txt exists already; / });
      assert.deepEqual(contents(directory), before);
    }
  }));

test("a directory by the name of a file is refused, too", () =>
  inFolder(async (directory) => {
    await mkdir(join(directory, "part-00003.txt"));
    await assert.rejects(write({ directory }, ["a"]), { code: "EEXIST" });
    await write({ directory, overwrite: true }, ["aa", "bb"]);
    const third = write({ directory, overwrite: true }, ["aa", "bb", "cc"]);
    await assert.rejects(third, { code: "EISDIR", message: /^Cannot create .*part-00003\.txt: it is a directory/ });
  }));

test("a file that appears under a name of the series meanwhile is never replaced", () =>
  inFolder(async (folder) => {
    for (const atomic of [false, true]) {
      const directory = join(folder, String(atomic));
      const writer = new RotatingFileWritable({ directory, maxFileSize: 1, atomic }).getWriter();
      writer.closed.catch(() => {});
      await writer.write("a");
      await writeFile(join(directory, "part-00002.txt"), "mine");
      const message = /part-00002\.txt: there is a file of that name already \(EEXIST\)$/;
      const refused = assert.rejects(writer.write("b").then(() => writer.close()), { code: "EEXIST", message });
      await refused;
      assert.deepEqual(contents(directory), { "part-00001.txt": "a", "part-00002.txt": "mine" });
    }
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("overwrite replaces files of the series, and removes those that are left over", () =>
  inFolder(async (folder) => {
    for (const atomic of [false, true]) {
      const directory = join(folder, String(atomic));
      const old = { "part-00001.txt": "old", "part-00002.txt": "old", "part-00004.txt": "old", "part-99999.txt": "" };
      await writeTree(directory, { ...old, "part-4.txt": "other", "part-0004.md": "other" });
      await write({ directory, overwrite: true, atomic }, ["aa", "bb"]);
      const others = { "part-0004.md": "other", "part-4.txt": "other" };
      assert.deepEqual(contents(directory), { "part-00001.txt": "aa", "part-00002.txt": "bb", ...others });
      await write({ directory, overwrite: true, atomic }, []);
      assert.deepEqual(contents(directory), others);
    }
  }));

test("overwrite removes what is left over of a series that a function names", () =>
  inFolder(async (directory) => {
    await writeTree(directory, Object.fromEntries(["a", "b", "c", "d", "e", "x"].map((name) => [name, "old"])));
    await write({ directory, overwrite: true, name: (number) => "abcde"[number - 1] }, ["11", "22"]);
    assert.deepEqual(contents(directory), { a: "11", b: "22", x: "old" });
    await write({ directory, overwrite: true, name: (number) => number === 1 ? "a" : "b" }, ["33", "44"]);
    assert.deepEqual(contents(directory), { a: "33", b: "44", x: "old" });
  }));

test(
  "overwrite removes links, not what they lead to, and keeps directories",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const directory = join(folder, "out");
      await mkdir(join(directory, "part-00009.txt"), { recursive: true });
      await writeFile(join(folder, "kept"), "kept");
      await symlink(join(folder, "kept"), join(directory, "part-00002.txt"));
      await write({ directory, overwrite: true }, ["a"]);
      assert.deepEqual((await readdir(directory)).sort(), ["part-00001.txt", "part-00009.txt"]);
      assert.equal(await readFile(join(folder, "kept"), "utf8"), "kept");
    }),
);

test("many streams make the same missing directories at the same time", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "a/b/c/d");
    const names = Array.from({ length: 20 }, (_, i) => `${10 + i}.txt`);
    await Promise.all(names.map((name) => write({ directory, name }, [name.slice(0, 2)])));
    assert.deepEqual(Object.values(contents(directory)), names.map((name) => name.slice(0, 2)));
  }));
