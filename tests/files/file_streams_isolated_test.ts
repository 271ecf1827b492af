import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import test from "node:test";
import fc from "fast-check";
import { FileWritable } from "../../lib/files/file_writable.ts";
import { openFileReadable, openFileWritable } from "../../lib/files/mod.ts";
import { openOutputFile, wholeFile } from "../../lib/files/output_file.ts";
import { noise } from "../support/bytes.ts";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { inFolder } from "../support/folders.ts";
import { cannotListOpenFiles, openFilesIn, turns } from "./written.ts";
import { needs } from "../support/needs.ts";
import { until } from "../support/waits.ts";

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

test("openFileReadable() ends with the reason of the signal that map() of node:stream passes, and closes its file", () =>
  inFolder(async (folder) => {
    await writeFile(join(folder, "file"), noise(600_000, 1));
    const open: (path: string, options: unknown) => ReturnType<typeof openFileReadable> = openFileReadable;
    await assert.rejects(open(join(folder, "file"), { signal: 1 }), {
      name: "TypeError",
      message: /^signal must be an /,
    });
    await assert.rejects(
      open(join(folder, "file"), { signal: AbortSignal.abort("before") }),
      (reason) => reason === "before",
    );
    const control = new AbortController();
    const options = { signal: control.signal };
    const reader = (await Readable.from([join(folder, "file")]).map(openFileReadable, options).toArray())[0]
      .getReader();
    const whole = await open(join(folder, "file"), options);
    await new Response(whole).bytes();
    await reader.read();
    control.abort("over");
    await assert.rejects(reader.closed, (reason) => reason === "over");
    await until(() => openFilesIn(folder).length === 0, "the close");
  }));

test("openFileReadable() names a missing file, and a folder errors when read", () =>
  inFolder(async (folder) => {
    const none = join(folder, "none");
    await assert.rejects(openFileReadable(none), {
      code: "ENOENT",
      message: `Cannot read ${none}: there is no such file (ENOENT)`,
    });
    await assert.rejects(async () => {
      const reader = (await openFileReadable(folder)).getReader();
      await reader.read();
    }, { code: "EISDIR", message: `Cannot read ${folder}: it is a directory (EISDIR)` });
  }));

test("openFileWritable() names the file that it cannot make or complete, and not a temporary one", () =>
  inFolder(async (folder) => {
    const lost = join(folder, "none", "file");
    const message = `Cannot create ${lost}: the directory is missing (ENOENT)`;
    for (const atomic of [false, true]) {
      await assert.rejects(openFileWritable(lost, { atomic }), { code: "ENOENT", message });
    }
    const taken = join(folder, "taken");
    await writeFile(taken, "");
    const exists = { code: "EEXIST", message: /taken: there is a file of that name already \(EEXIST\)$/ };
    await assert.rejects(openFileWritable(taken, { replace: false }), exists);
    const stream = await openFileWritable(taken, { replace: false, atomic: true });
    await assert.rejects(stream.close(), exists);
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

test("openFileWritable() writes strings as UTF-8, between bytes and of any length", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    const writer = (await openFileWritable(path)).getWriter();
    const chunks = ["grüß ", text("dich, "), "", "\u{1f30d}".repeat(10_000), "x".repeat(300_000), text("\n")];
    for (const chunk of chunks) void writer.write(chunk);
    await writer.close();
    const words = chunks.map((chunk) => typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
    assert.equal(await readFile(path, "utf8"), words.join(""));
  }));

test("openFileWritable() with atomic leaves nothing behind when it cannot take the name", () =>
  inFolder(async (folder) => {
    await mkdir(join(folder, "taken/by"), { recursive: true });
    const path = join(folder, "taken");
    await assert.rejects(openFileWritable(path, { atomic: true }), { code: "EISDIR" });
    const writer = (await openFileWritable(path, { atomic: true, replace: false })).getWriter();
    await writer.write(text("x"));
    await assert.rejects(writer.close(), { code: "EEXIST" });
    assert.deepEqual(await readdir(folder), ["taken"]);
  }));

test("openFileWritable() with atomic leaves nothing behind when it is given no bytes", () =>
  inFolder(async (folder) => {
    const writer = (await openFileWritable(join(folder, "file"), { atomic: true })).getWriter();
    writer.closed.catch(() => {});
    await assert.rejects(writer.write({ length: 4 } as unknown as Uint8Array));
    assert.deepEqual(await readdir(folder), []);
  }));

test("openFileReadable() closes its file at the end, when cancelled at any point, and when reading fails", {
  skip: cannotListOpenFiles,
}, () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, noise(600_000, 1));
    for await (const _ of await openFileReadable(path));
    assert.deepEqual(openFilesIn(folder), []);
    for (const reads of [0, 1, 2, 3, 4]) {
      for (const pause of [0, 0.5, 1, 3]) {
        const reader = (await openFileReadable(path)).getReader();
        await turns(pause);
        for (let i = 0; i < reads; i++) void reader.read();
        await turns(pause);
        await reader.cancel();
        assert.deepEqual(openFilesIn(folder), []);
      }
    }
    const reader = (await openFileReadable(folder)).getReader();
    await assert.rejects(reader.read(), { code: "EISDIR" });
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("openFileReadable() reads a piece ahead, and no more", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, "first");
    const reader = (await openFileReadable(path)).getReader();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await writeFile(path, "other");
    assert.equal(new TextDecoder().decode((await reader.read()).value), "first");
    assert.equal((await reader.read()).done, true);

    await writeFile(path, new Uint8Array(3_000_000));
    const large = (await openFileReadable(path)).getReader();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await writeFile(path, new Uint8Array(3_000_000).fill(1));
    let old = 0;
    for (let result = await large.read(); !result.done; result = await large.read()) {
      if (result.value.every((byte) => byte === 0)) old += result.value.length;
    }
    assert.ok(old > 0 && old <= 600_000, `${old} bytes were read before they were asked for`);
  }));

test("openFileReadable() fills the buffers of a BYOB reader", () =>
  inFolder(async (folder) => {
    const bytes = noise(1_000_003, 1);
    await writeFile(join(folder, "file"), bytes);
    for (const size of [1000, 100_000, 700_000]) {
      const stream = await openFileReadable(join(folder, "file"));
      const reader = stream.getReader({ mode: "byob" });
      const chunks: Uint8Array[] = [];
      for (;;) {
        const { done, value } = await reader.read(new Uint8Array(size));
        if (done) break;
        assert.ok(value.length <= size);
        chunks.push(value);
      }
      assert.ok(Buffer.concat(chunks).equals(bytes));
    }
  }));

test("openFileReadable() gives a BYOB reader that wants more than there is what there is, though it was read ahead", () =>
  inFolder(async (folder) => {
    for (const size of [0, 5, 600_000]) {
      const bytes = noise(size, 1);
      await writeFile(join(folder, "file"), bytes);
      const stream = await openFileReadable(join(folder, "file"));
      await turns(20); // the first piece, and maybe the end, have been read
      const reader = stream.getReader({ mode: "byob" });
      const { done, value } = await reader.read(new Uint8Array(1_000_000), { min: 1_000_000 });
      assert.equal(done, true);
      assert.deepEqual(value, bytes);
      await reader.closed;
    }
  }));

test("openFileReadable() of what is longer than it says gives all of it", {
  skip: needs("proc"),
}, async () => {
  let text = "";
  for await (const chunk of await openFileReadable("/proc/self/status")) text += new TextDecoder().decode(chunk);
  assert.match(text, /^VmRSS/m);
});

test("openFileWritable() and openFileReadable() are our streams, and pipe into each other", () =>
  inFolder(async (folder) => {
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    const bytes = noise(2_000_003, 1);
    await writeFile(from, bytes);
    for (const atomic of [false, true]) {
      const [source, sink] = [await openFileReadable(from), await openFileWritable(to, { atomic })];
      assert.ok(source instanceof ReadableStream && sink instanceof BatchedWritableStream);
      await source.pipeTo(sink);
      assert.ok((await readFile(to)).equals(bytes));
    }
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("openFileWritable() takes chunks of all sizes, copied or not, in order", () =>
  inFolder(async (folder) => {
    const size = fc.oneof(fc.nat(100), fc.nat(20_000), fc.integer({ min: 16_000, max: 300_000 }));
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 60 }), async (sizes) => {
        const chunks = sizes.map((size, i) => new Uint8Array(size).fill(i));
        const writer = (await openFileWritable(join(folder, "file"))).getWriter();
        for (const chunk of chunks) void writer.write(chunk);
        await writer.close();
        assert.ok((await readFile(join(folder, "file"))).equals(Buffer.concat(chunks)));
      }),
      { numRuns: 40 },
    );
  }));

test("openFileWritable() acknowledges a write when the file has its bytes", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    const writer = (await openFileWritable(path)).getWriter();
    for (const size of [1, 10, 20_000, 1_000_000]) {
      const before = (await stat(path)).size;
      await writer.write(new Uint8Array(size));
      assert.equal((await stat(path)).size, before + size);
    }
    await writer.abort();
    assert.deepEqual(openFilesIn(folder), []);
    assert.equal((await stat(path)).size, 1_020_011);
  }));

test("openFileWritable() gives a new file the mode asked for, makes none for a wrong option, and closes it if that fails", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await assert.rejects(openFileWritable(path, { mtimeMs: Number.NaN }), RangeError);
    assert.deepEqual(await readdir(folder), []);
    await (await openFileWritable(path, { mode: 0o600 })).close();
    if (!needs("modes")) assert.equal((await stat(path)).mode & 0o777, 0o600);
    const stream = new FileWritable(wholeFile(path, await openOutputFile(path, { mtimeMs: Number.NaN })));
    await assert.rejects(stream.close(), /^Error: Cannot complete /);
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("openFileWritable() with replace: false never replaces a file", () =>
  inFolder(async (folder) => {
    const path = join(folder, "file");
    await writeFile(path, "mine");
    await assert.rejects(openFileWritable(path, { replace: false }), { code: "EEXIST" });
    const stream = await openFileWritable(path, { replace: false, atomic: true });
    await assert.rejects(stream.close(), { code: "EEXIST" });
    assert.equal(await readFile(path, "utf8"), "mine");
    assert.deepEqual(await readdir(folder), ["file"]);
  }));
