import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { openFileReadable, openFileWritable } from "../../lib/files/mod.ts";
import { noise } from "../codecs/samples.ts";
import { inFolder } from "../precompress/site.ts";

const text = (words: string) => new TextEncoder().encode(words);

test("openFileReadable() gives a file's bytes, in order and in pieces", () =>
  inFolder(async (folder) => {
    const bytes = noise(1_000_003, 1);
    await writeFile(join(folder, "file"), bytes);
    const chunks: Uint8Array[] = [];
    for await (const chunk of await openFileReadable(join(folder, "file"))) chunks.push(chunk);
    assert.ok(chunks.length > 1);
    assert.ok(Buffer.concat(chunks).equals(bytes));
  }));

test("openFileReadable() can be cancelled, and gives an empty file as an empty stream", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "file"), noise(600_000, 1));
    const reader = (await openFileReadable(join(folder, "file"))).getReader();
    assert.equal((await reader.read()).done, false);
    await reader.cancel();
    await writeFile(join(folder, "empty"), "");
    assert.equal((await (await openFileReadable(join(folder, "empty"))).getReader().read()).done, true);
  }));

test("openFileReadable() names a missing file, and a folder errors when read", () =>
  inFolder(async (folder) => {
    await assert.rejects(openFileReadable(join(folder, "none")), { code: "ENOENT", message: /none/ });
    await assert.rejects(async () => {
      const reader = (await openFileReadable(folder)).getReader();
      await reader.read();
    }, { code: "EISDIR" });
  }));

test("openFileWritable() writes in place of what was there", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, "a longer text than the new one");
    const writer = (await openFileWritable(path, { mtimeMs: 1.7e12 })).getWriter();
    await writer.write(text("short, "));
    await writer.write(text("new"));
    await writer.close();
    assert.equal(await readFile(path, "utf8"), "short, new");
    assert.equal((await stat(path)).mtimeMs, 1.7e12);
  }));

test("openFileWritable() with atomic keeps the old file until the stream closes", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, "old");
    const writer = (await openFileWritable(path, { atomic: true })).getWriter();
    await writer.write(text("new"));
    assert.equal(await readFile(path, "utf8"), "old");
    await writer.close();
    assert.equal(await readFile(path, "utf8"), "new");
    assert.deepEqual(await readdir(folder), ["file"]);
  }));

test("openFileWritable() with atomic leaves nothing behind when aborted", () =>
  inFolder(async (folder) => {
    const stream = await openFileWritable(join(folder, "file"), { atomic: true });
    const writer = stream.getWriter();
    await writer.write(text("half of"));
    await writer.abort(new Error("no"));
    assert.deepEqual(await readdir(folder), []);
  }));

test("openFileWritable() with atomic leaves nothing behind when it cannot take the name", () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "taken/by"), { recursive: true });
    const writer = (await openFileWritable(join(folder, "taken"), { atomic: true })).getWriter();
    await writer.write(text("x"));
    await assert.rejects(writer.close());
    assert.deepEqual(await readdir(folder), ["taken"]);
  }));

test("openFileWritable() with atomic leaves nothing behind when it is given no bytes", () =>
  inFolder(async (folder) => {
    const writer = (await openFileWritable(join(folder, "file"), { atomic: true })).getWriter();
    writer.closed.catch(() => {});
    await assert.rejects(writer.write({ length: 4 } as unknown as Uint8Array));
    assert.deepEqual(await readdir(folder), []);
  }));
