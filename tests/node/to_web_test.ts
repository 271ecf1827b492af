/** The bridges beside `Readable.toWeb()` and `Writable.toWeb()`, where those do the expected. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { PassThrough, Readable, Writable } from "node:stream";
import { describe, it } from "node:test";
import { fromNodeReadable, fromNodeWritable } from "../../lib/node/mod.ts";
import { within } from "../support/waits.ts";

type ToReadable = (readable: Readable) => ReadableStream<unknown>;
type ToWritable = (writable: Writable) => WritableStream<unknown>;

const readables: Readonly<Record<string, ToReadable>> = {
  "fromNodeReadable()": fromNodeReadable,
  "Readable.toWeb()": (readable) => Readable.toWeb(readable) as ReadableStream<unknown>,
};
const writables: Readonly<Record<string, ToWritable>> = {
  "fromNodeWritable()": fromNodeWritable,
  "Writable.toWeb()": (writable) => Writable.toWeb(writable) as WritableStream<unknown>,
};

async function allOf(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = [];
  const reader = stream.getReader();
  for (let result = await reader.read(); !result.done; result = await reader.read()) chunks.push(result.value);
  return chunks;
}

for (const [name, toStream] of Object.entries(readables)) {
  describe(name, () => {
    it("gives Uint8Arrays that hold the readable's bytes", async () => {
      const chunks = await within(allOf(toStream(Readable.from(["mill", "race"], { objectMode: false }))), "reading");
      for (const chunk of chunks) assert.equal(Object.getPrototypeOf(chunk), Uint8Array.prototype);
      assert.equal(Buffer.concat(chunks as Uint8Array[]).toString(), "millrace");
    });

    it("gives the objects of object mode", async () => {
      const objects = [1, "two", { three: 3 }];
      assert.deepEqual(await within(allOf(toStream(Readable.from(objects))), "reading"), objects);
    });

    it("errors as the readable does", async () => {
      const failure = new Error("no more");
      const readable = new PassThrough();
      const reading = allOf(toStream(readable));
      readable.destroy(failure);
      await assert.rejects(within(reading, "reading"), failure);
    });

    it("errors if the readable is destroyed before its end", async () => {
      const readable = new PassThrough();
      const reading = allOf(toStream(readable));
      readable.destroy();
      await assert.rejects(within(reading, "reading"), Error);
    });

    it("destroys the readable when it is cancelled, with the reason", async () => {
      const readable = new PassThrough();
      const errored = new Promise((resolve) => readable.on("error", resolve));
      const reason = new Error("enough");
      toStream(readable).cancel(reason).catch(() => {}); // Readable.toWeb() rejects with the reason
      assert.equal(await within(errored, "the readable's error"), reason);
    });
  });
}

for (const [name, toStream] of Object.entries(writables)) {
  describe(name, () => {
    it("writes all bytes in order, and has finished when it is closed", async () => {
      let text = "";
      const writable = new Writable({ write: (chunk, _encoding, done) => void (text += chunk, setImmediate(done)) });
      const writer = toStream(writable).getWriter();
      for (const word of ["mill", "race"]) void writer.write(new TextEncoder().encode(word));
      await within(writer.close(), "closing");
      assert.deepEqual([text, writable.writableFinished], ["millrace", true]);
    });

    it("writes the objects of object mode", async () => {
      const written: unknown[] = [];
      const writable = new Writable({
        objectMode: true,
        write: (chunk, _, done) => void (written.push(chunk), done()),
      });
      const writer = toStream(writable).getWriter();
      for (const object of [1, "two", { three: 3 }]) void writer.write(object);
      await within(writer.close(), "closing");
      assert.deepEqual(written, [1, "two", { three: 3 }]);
    });

    it("has no room while the writable has none", async () => {
      const writable = new Writable({ highWaterMark: 10, write() {} });
      const writer = toStream(writable).getWriter();
      const ignore = (): void => {};
      writer.closed.catch(ignore);
      for (let i = 0; i < 70_000 && writer.desiredSize! > 0; i++) writer.write(new Uint8Array(10_000)).catch(ignore);
      let isReady = false;
      writer.ready.then(() => isReady = true, ignore);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(isReady, false);
      writable.destroy();
    });

    it("errors as the writable does", async () => {
      const failure = new Error("no more");
      const writable = new Writable({ write() {} });
      const { closed } = toStream(writable).getWriter();
      writable.destroy(failure);
      await assert.rejects(within(closed, "the end"), failure);
    });

    it("destroys the writable with the reason of an abort", async () => {
      const writable = new Writable({ write() {} });
      const errored = new Promise((resolve) => writable.on("error", resolve));
      const reason = new Error("enough");
      toStream(writable).abort(reason).catch(() => {});
      assert.equal(await within(errored, "the writable's error"), reason);
    });
  });
}
