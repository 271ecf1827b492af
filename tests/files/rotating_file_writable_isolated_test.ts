import assert from "node:assert/strict";
import { link, lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import fc from "fast-check";
import { RotatingFileWritable, type RotationOptions } from "../../lib/files/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { inFolder } from "../support/folders.ts";
import { contents, expectedFiles, openFilesIn, turns } from "./written.ts";
import { tries } from "../support/long_run.ts";
import { needs } from "../support/needs.ts";
import { codePoint } from "../support/code_point.ts";

type Item = Uint8Array | string;

/** Returns an item's bytes as a string of one character each. */
function latin1(item: Item): string {
  return Buffer.from(item as string).toString("latin1");
}

/** Writes items with `pauses` after some of them, closes, and returns the directory's contents. */
async function written(options: RotationOptions, items: readonly Item[], pauses: number[] = []): Promise<string[]> {
  const stream = new RotatingFileWritable(options);
  const writer = stream.getWriter();
  for (const [i, item] of items.entries()) {
    void writer.write(item);
    if (pauses.length > 0) await turns(pauses[i % pauses.length]);
  }
  await writer.close();
  const files = contents(options.directory as string);
  assert.deepEqual([...stream.files].sort(), Object.keys(files).map((name) => join(options.directory as string, name)));
  return Object.values(files);
}

const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 40 }), fc.string({ unit: codePoint, maxLength: 40 }));
const bytes = fc.uint8Array({ maxLength: 60 });
/** Around the sizes from which on items are not copied. */
const large = fc.integer({ min: 15_000, max: 70_000 }).chain((length) =>
  fc.boolean().map((isText) => isText ? "ä".repeat(length) : new Uint8Array(length).fill(length))
);
const items = fc.array(fc.oneof({ weight: 10, arbitrary: text }, { weight: 10, arbitrary: bytes }, large), {
  maxLength: 60,
});
const pauses = fc.array(fc.constantFrom(0, 0, 0, 0, 0.5, 1, 2), { maxLength: 5 });

test("RotatingFileWritable never splits an item and begins a file when the next would pass the size", () =>
  fc.assert(
    fc.asyncProperty(items, pauses, fc.nat(300), (items, pauses, more) =>
      inFolder(async (folder) => {
        const parts = items.map(latin1);
        const maxFileSize = Math.max(1, ...parts.map(({ length }) => length)) + more;
        const files = await written({ directory: join(folder, "out"), maxFileSize }, items, pauses);
        assert.deepEqual(files, expectedFiles(parts, maxFileSize));
        assert.deepEqual(openFilesIn(folder), []);
      })),
    { numRuns: tries(150) },
  ));

test("RotatingFileWritable writes a batch that fills its buffer many times over", () =>
  inFolder(async (folder) => {
    const items = Array.from({ length: 40_000 }, (_, i) => `${i} `.repeat(1 + i % 9));
    const strategy = { highWaterMark: Infinity };
    const stream = new RotatingFileWritable({ directory: folder, maxFileSize: 300_000 }, strategy);
    const writer = stream.getWriter();
    for (const item of items) void writer.write(item);
    await writer.close();
    assert.deepEqual(Object.values(contents(folder)), expectedFiles(items, 300_000));
  }));

test("RotatingFileWritable is a destination of pipes, with any high-water mark", () =>
  inFolder(async (folder) => {
    const chunks = Array.from({ length: 300 }, (_, i) => new Uint8Array(i).fill(i));
    for (const highWaterMark of [1, 1000]) {
      const directory = join(folder, String(highWaterMark));
      const stream = new RotatingFileWritable({ directory, maxFileSize: 1000, name: "x" }, { highWaterMark });
      await ReadableStream.from(chunks).pipeTo(stream);
      assert.deepEqual(Object.values(contents(directory)), expectedFiles(chunks.map(latin1), 1000));
    }
  }));

test("RotatingFileWritable takes views of any type for their bytes", () =>
  inFolder(async (directory) => {
    const view = new Uint16Array([0x6261, 0x6463, 0x6665]).subarray(1);
    const items = [view, new DataView(view.buffer, 1, 2)] as unknown as Uint8Array[];
    assert.deepEqual(await written({ directory, maxFileSize: 4 }, items), ["cdef", "bc"]);
  }));

test("RotatingFileWritable encodes each string on its own, whatever is written with it", () =>
  inFolder(async (directory) => {
    const halves = ["\ud83d", "\ude00"]; // of a smiley
    const files = await written({ directory, maxFileSize: 100 }, halves);
    assert.equal(Buffer.from(files[0], "latin1").toString(), "\ufffd\ufffd");
  }));

test("RotatingFileWritable makes no file without an item, and a file for an empty one", () =>
  inFolder(async (folder) => {
    assert.deepEqual(await written({ directory: join(folder, "none/yet"), maxFileSize: 10 }, []), []);
    assert.deepEqual(await readdir(join(folder, "none/yet")), []);
    assert.deepEqual(await written({ directory: join(folder, "empty"), maxFileSize: 10 }, ["", new Uint8Array()]), [
      "",
    ]);
  }));

test(
  "a series that overwrites replaces links, and writes to nothing that they lead to",
  { skip: needs("links") },
  () =>
    inFolder(async (folder) => {
      const [outside, directory] = [join(folder, "outside"), join(folder, "series")];
      for (const atomic of [false, true]) {
        for (const makeLink of [symlink, link]) {
          await writeFile(outside, "precious");
          await mkdir(directory);
          await makeLink(outside, join(directory, "part-00001.txt"));
          await written({ directory, maxFileSize: 5, overwrite: true, atomic }, ["12345", "6"]);
          assert.deepEqual(contents(directory), { "part-00001.txt": "12345", "part-00002.txt": "6" });
          assert.ok((await lstat(join(directory, "part-00001.txt"))).isFile());
          assert.equal(await readFile(outside, "utf8"), "precious");
          await rm(directory, { recursive: true });
        }
      }
    }),
);

test("RotatingFileWritable acknowledges a write when the file has its bytes", () =>
  inFolder(async (directory) => {
    const stream = new RotatingFileWritable({ directory, maxFileSize: 5 });
    const writer = stream.getWriter();
    await writer.write("1234");
    assert.deepEqual(contents(directory), { "part-00001.txt": "1234" });
    assert.deepEqual(stream.files, []);
    await Promise.all([writer.write("5"), writer.write("6")]);
    assert.deepEqual(contents(directory), { "part-00001.txt": "12345", "part-00002.txt": "6" });
    assert.deepEqual(stream.files, [join(directory, "part-00001.txt")]);
    await writer.close();
    assert.equal(stream.files.length, 2);
  }));

test("RotatingFileWritable refuses an item larger than a file before it writes any of its batch", () =>
  inFolder(async (directory) => {
    for (const item of ["ééé", new Uint8Array(6)]) {
      const stream = new RotatingFileWritable({ directory, maxFileSize: 5, overwrite: true });
      const writer = stream.getWriter();
      writer.closed.catch(() => {});
      await writer.write("ok");
      const rest = await Promise.allSettled([writer.write("1"), writer.write("234"), writer.write(item)]);
      for (const outcome of rest) {
        const { name, message } = (outcome as PromiseRejectedResult).reason;
        const words = "Cannot write a chunk of 6 bytes: maxFileSize is 5, and no line is split";
        assert.deepEqual([name, message], ["RangeError", words]);
      }
      assert.deepEqual(contents(directory), { "part-00001.txt": "ok" });
      assert.deepEqual(openFilesIn(directory), []);
    }
  }));

test("RotatingFileWritable refuses chunks that are neither bytes nor text", () =>
  inFolder(async (directory) => {
    for (const chunk of [null, undefined, 12, { length: 4 }, ["a"], new ArrayBuffer(2)]) {
      const stream = new RotatingFileWritable({ directory, maxFileSize: 5 });
      const writer = stream.getWriter();
      writer.closed.catch(() => {});
      await assert.rejects(writer.write(chunk as never), { name: "TypeError", message: /must be a Uint8Array/ });
    }
    assert.deepEqual(contents(directory), {});
  }));

test("RotatingFileWritable with atomic gives a file its name when it is complete", () =>
  inFolder(async (directory) => {
    const stream = new RotatingFileWritable({ directory, maxFileSize: 5, name: "a.log", atomic: true });
    const writer = stream.getWriter();
    await writer.write("12345");
    assert.ok(!(await readdir(directory)).includes("a-00001.log"));
    await writer.write("67");
    assert.ok((await readdir(directory)).includes("a-00001.log"));
    await writer.close();
    assert.deepEqual(contents(directory), { "a-00001.log": "12345", "a-00002.log": "67" });
    assert.deepEqual(openFilesIn(directory), []);
  }));

test("RotatingFileWritable keeps what is complete when it is aborted, and the rest unless atomic", () =>
  inFolder(async (folder) => {
    for (const atomic of [false, true]) {
      const directory = join(folder, String(atomic));
      const stream = new RotatingFileWritable({ directory, maxFileSize: 5, atomic });
      const writer = stream.getWriter();
      writer.closed.catch(() => {});
      await writer.write("12345");
      await writer.write("67");
      const dropped = assert.rejects(writer.write("8"), { message: "enough" });
      await writer.abort(new Error("enough"));
      await dropped;
      const partial = atomic ? {} : { "part-00002.txt": "67" };
      assert.deepEqual(contents(directory), { "part-00001.txt": "12345", ...partial });
      assert.deepEqual(openFilesIn(folder), []);
    }
  }));

test("RotatingFileWritable writes into a directory that has other files", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "other.txt"), "mine");
    await mkdir(join(folder, "part"));
    await written({ directory: join(folder, "part"), maxFileSize: 9 }, ["x"]);
    const stream = new RotatingFileWritable({ directory: folder, maxFileSize: 9, name: "other.md" });
    const writer = stream.getWriter();
    void writer.write("y");
    await writer.close();
    assert.deepEqual((await readdir(folder)).sort(), ["other-00001.md", "other.txt", "part"]);
  }));
