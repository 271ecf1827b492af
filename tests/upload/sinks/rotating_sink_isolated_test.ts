import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import fc from "fast-check";
import { RotatingFileWritable } from "../../../lib/files/mod.ts";
import { openSink } from "../../../lib/upload/sink/open_sink.ts";
import { noise } from "../../support/bytes.ts";
import { cannotMount, contents, onSmallDisk, openFilesIn } from "../../files/written.ts";
import { inFolder } from "../../support/folders.ts";

const latin1 = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString("latin1");

test("a body fills each file of a series, whatever pieces it comes in", () =>
  inFolder((folder) => {
    let run = 0;
    const batches = fc.array(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 4 }), { maxLength: 6 });
    return fc.assert(
      fc.asyncProperty(batches, fc.integer({ min: 1, max: 50 }), async (batches, maxFileSize) => {
        const stream = new RotatingFileWritable({ directory: join(folder, `${run++}`), maxFileSize });
        const sink = await openSink(stream, {});
        for (const pieces of batches) await sink.write(pieces);
        await sink.end();
        await sink.commit();
        const all = latin1(batches.flat());
        const expected = all.match(new RegExp(`[^]{1,${maxFileSize}}`, "g")) ?? [];
        assert.deepEqual(Object.values(contents(join(folder, `${run - 1}`))), expected);
        assert.deepEqual(stream.files.length, expected.length);
      }),
      { numRuns: 60 },
    );
  }));

test("a body goes on in the file that the series has begun, after chunks that have their own sizes", () =>
  inFolder(async (directory) => {
    const stream = new RotatingFileWritable({ directory, maxFileSize: 10 });
    assert.deepEqual([stream.maxFileSize, stream.room], [10, 10]);
    const writer = stream.getWriter();
    await writer.write("1234567");
    writer.releaseLock();
    assert.equal(stream.room, 3);
    const sink = await openSink(stream, {});
    await sink.write([new TextEncoder().encode("abcdefghijklmnop")]);
    await sink.commit();
    assert.deepEqual(Object.values(contents(directory)), ["1234567abc", "defghijklm", "nop"]);
  }));

test("a body that is discarded leaves the files that are complete, and of atomic ones no part", () =>
  inFolder(async (directory) => {
    const sink = await openSink(new RotatingFileWritable({ directory, maxFileSize: 4, atomic: true }), {});
    await sink.write([new TextEncoder().encode("123456")]);
    await sink.discard(new Error("enough"));
    assert.deepEqual(contents(directory), { "part-00001.txt": "1234" });
    assert.deepEqual(openFilesIn(`${directory}/`), []);
  }));

test(
  "a disk that is full is told as such of a series too",
  { skip: cannotMount },
  () =>
    onSmallDisk(500, async (directory) => {
      const sink = await openSink(new RotatingFileWritable({ directory, maxFileSize: 100_000, atomic: true }), {});
      await sink.write([noise(300_000, 1)]);
      await assert.rejects(sink.write([noise(300_000, 2)]), {
        name: "UploadError",
        code: "NO_SPACE",
        status: 507,
        message: "Cannot save the upload: no space is left on the device (ENOSPC)",
      });
      await sink.discard(undefined);
      assert.deepEqual(openFilesIn(`${directory}/`), []);
    }),
);

test("what else fails in a series comes through", () =>
  inFolder(async (directory) => {
    const stream = () => new RotatingFileWritable({ directory, maxFileSize: 5 });
    const sink = await openSink(stream(), {});
    await sink.write([new Uint8Array(7)]);
    await sink.commit();
    const again = await openSink(stream(), {});
    await assert.rejects(again.write([new Uint8Array(7)]), { name: "Error", code: "EEXIST" });
    await again.discard(undefined);
    await assert.rejects(openSink(stream().getWriter() as never, {}), { name: "TypeError" });
  }));
