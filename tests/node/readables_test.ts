import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { describe, it } from "node:test";
import { fromNodeReadable, fromNodeWritable } from "../../lib/node/mod.ts";
import { BatchedWritableStream, readBatches } from "../../lib/batch/mod.ts";
import { type ReadableStream as Readings, WritableStream } from "../../lib/streams/mod.ts";
import { pause, until, within } from "../support/waits.ts";
import { withHttp2Server, withHttpServer } from "./loopback.ts";

async function chunksOf<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const chunks: T[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe("fromNodeReadable() of a readable", () => {
  it("gives the bytes that are there, as Uint8Arrays and no Buffers", async () => {
    const readable = new PassThrough();
    readable.write("mill");
    readable.write("race");
    readable.end();
    const chunks = await within(chunksOf(fromNodeReadable(readable)), "reading");
    assert.equal(chunks.map((chunk) => new TextDecoder().decode(chunk)).join(""), "millrace");
    for (const chunk of chunks) assert.equal(Object.getPrototypeOf(chunk), Uint8Array.prototype);
  });

  it("gives strings of a readable with an encoding, and never half a character", async () => {
    const readable = new PassThrough({ encoding: "utf8" });
    const reading = chunksOf(fromNodeReadable<string>(readable));
    for (const byte of new TextEncoder().encode("\u{1f30a}é")) {
      readable.write(Uint8Array.of(byte));
      await pause(1);
    }
    readable.end();
    assert.deepEqual(await within(reading, "reading"), ["\u{1f30a}", "é"]);
  });

  it("gives the objects of object mode one by one, with empty strings and falsy values", async () => {
    const objects = [1, 0, "", false, { a: 1 }, new Uint8Array(2), "text"];
    const stream = fromNodeReadable<unknown>(Readable.from(objects));
    assert.deepEqual(await within(chunksOf(stream), "reading"), objects);
  });

  it("reads nothing ahead of what is asked for, beyond the readable's own high-water mark", async () => {
    let given = 0;
    const readable = new Readable({
      highWaterMark: 1000,
      read(): void {
        given += 500;
        this.push(new Uint8Array(500));
      },
    });
    const reader = fromNodeReadable(readable).getReader();
    await pause(20);
    assert.ok(given <= 1500, `${given} bytes`);
    const { value } = await reader.read();
    assert.ok(value!.length <= 1500);
    await pause(20);
    assert.ok(given <= value!.length + 1500, `${given} bytes`);
    await reader.cancel();
  });

  it("ends an object source that always has more when the pipe has no room", async () => {
    let given = 0;
    const readable = new Readable({ objectMode: true, read: () => void readable.push(given++) });
    const full = new WritableStream({ write: () => new Promise(() => {}) }, { highWaterMark: 5 });
    fromNodeReadable(readable).pipeTo(full).catch(() => {});
    await pause(20);
    assert.ok(given < 200, `${given} objects`);
    readable.destroy();
  });

  it("gives a late reader what came before and the end", async () => {
    const readable = new PassThrough();
    const stream = fromNodeReadable(readable);
    readable.end("early");
    await pause(20);
    assert.equal(String(await within(chunksOf(stream), "reading")), String(new TextEncoder().encode("early")));
  });

  it("is closed if the readable has ended before, errored if it was destroyed", async () => {
    const ended = Readable.from(["a"]);
    await chunksOf(ended);
    assert.deepEqual(await within(chunksOf(fromNodeReadable(ended)), "reading"), []);
    const destroyed = new PassThrough().destroy();
    await assert.rejects(within(chunksOf(fromNodeReadable(destroyed)), "reading"), {
      code: "ERR_STREAM_PREMATURE_CLOSE",
    });
    const failure = new Error("no more");
    const failed = new PassThrough().on("error", () => {}).destroy(failure);
    await assert.rejects(within(chunksOf(fromNodeReadable(failed)), "reading"), failure);
  });

  it("errors when the readable fails, or closes before its end", async () => {
    const failure = new Error("no more");
    const failing = new PassThrough();
    const failed = assert.rejects(chunksOf(fromNodeReadable(failing)), failure);
    failing.destroy(failure);
    const closing = new PassThrough();
    const closed = assert.rejects(chunksOf(fromNodeReadable(closing)), { code: "ERR_STREAM_PREMATURE_CLOSE" });
    closing.destroy();
    await within(Promise.all([failed, closed]), "failing");
  });

  it("destroys the readable when it is cancelled, with the reason if that is an error", async () => {
    const reason = new Error("enough");
    const readable = new PassThrough();
    const errored = new Promise((resolve) => readable.on("error", resolve));
    await fromNodeReadable(readable).cancel(reason);
    assert.equal(await within(errored, "the readable's error"), reason);
    const silent = new PassThrough();
    await fromNodeReadable(silent).cancel();
    assert.equal(silent.destroyed, true);
  });

  /** Ways to take some chunks, and to leave the rest: each returns what it took. */
  const leaves: Readonly<Record<string, (stream: Readings<string>) => Promise<string[]>>> = {
    async reader(stream) {
      const reader = stream.getReader();
      const { value } = await reader.read();
      reader.releaseLock();
      return [value!];
    },
    async "reader that has asked for more"(stream) {
      const reader = stream.getReader();
      const { value } = await reader.read();
      reader.read().then(({ value }) => value && more.push(value), () => {});
      reader.releaseLock();
      const more = [value!];
      await pause(1);
      return more;
    },
    async loop(stream) {
      for await (const chunk of stream.values({ preventCancel: true })) return [chunk];
      return [];
    },
    async "readBatches()"(stream) {
      for await (const batch of readBatches(stream, { maxChunks: 2, preventCancel: true })) return batch;
      return [];
    },
    async pipe(stream) {
      const taken: string[] = [];
      const stop = new AbortController();
      const write = (chunk: string): void => (taken.push(chunk), stop.abort());
      await stream.pipeTo(new WritableStream({ write }), { signal: stop.signal, preventCancel: true }).catch(() => {});
      return taken;
    },
    async "pipe of batches"(stream) {
      const taken: string[] = [];
      const stop = new AbortController();
      const writev = (chunks: string[]): void => (taken.push(...chunks), stop.abort());
      const destination = new BatchedWritableStream({ writev }, { highWaterMark: 3 });
      const prevent = { preventAbort: true, preventCancel: true, preventClose: true };
      await stream.pipeTo(destination, { signal: stop.signal, ...prevent }).catch(() => {});
      await destination.close();
      return taken;
    },
  };

  for (const [way, take] of Object.entries(leaves)) {
    it(`leaves to others, after a ${way}, what was not taken, however much was there`, async () => {
      for (const objectMode of [true, false]) {
        for (const buffered of [0, 1, 5, 12]) {
          const sent = Array.from({ length: 12 }, (_, i) => `<${i}>`);
          const readable = new Readable({ objectMode, encoding: objectMode ? undefined : "utf8", read(): void {} });
          for (const chunk of sent.slice(0, buffered)) readable.push(chunk);
          const taking = take(fromNodeReadable<string>(readable));
          for (const chunk of sent.slice(buffered, buffered + 1)) readable.push(chunk);
          const taken = await within(taking, way);
          for (const chunk of sent.slice(buffered + 1)) readable.push(chunk);
          readable.push(null);
          const rest: string[] = [];
          readable.on("data", (chunk) => rest.push(chunk));
          if (!readable.readableEnded) await within(once(readable, "end"), "the rest");
          assert.equal(
            [...taken, ...rest].join(""),
            sent.join(""),
            `${buffered} of ${objectMode ? "objects" : "text"}`,
          );
        }
      }
    });
  }

  it("leaves no listener behind", async () => {
    const ended = Readable.from(["a"]);
    const counts = (readable: Readable): number[] =>
      ["readable", "data", "end", "error", "close"].map((event) => readable.listenerCount(event));
    await chunksOf(fromNodeReadable(ended));
    const cancelled = new PassThrough();
    await fromNodeReadable(cancelled).cancel(new Error("enough"));
    await until(() => ended.closed && cancelled.closed, "closing");
    assert.deepEqual([counts(ended), counts(cancelled)], [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]);
  });

  it("says what is no readable", () => {
    for (const one of [undefined, null, "text", {}, new ReadableStream()] as unknown as Readable[]) {
      assert.throws(() => fromNodeReadable(one), /must be a readable stream of node:stream/);
    }
  });
});

describe("fromNodeReadable() of a request", () => {
  it("gives the body of a request of node:http, which can be sent back", async () => {
    const body = Uint8Array.from({ length: 2_000_000 }, (_, i) => i % 251);
    await withHttpServer((response, request) => {
      fromNodeReadable(request).pipeTo(fromNodeWritable(response)).catch(assert.fail);
    }, async (port) => {
      const answer = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body });
      const echoed = new Uint8Array(await answer.arrayBuffer());
      assert.equal(echoed.length, body.length);
      assert.equal(echoed.findIndex((byte, i) => byte !== body[i]), -1);
    });
  });

  it("is empty for a request without a body", async () => {
    await withHttpServer((response, request) => {
      chunksOf(fromNodeReadable(request)).then((chunks) => response.end(`${chunks.length} chunks`), assert.fail);
    }, async (port) => {
      assert.equal(await (await fetch(`http://127.0.0.1:${port}`)).text(), "0 chunks");
    });
  });

  it("errors when the visitor leaves in the middle of the body", async () => {
    let failure: unknown;
    let hasCome = false;
    await withHttpServer((_response, request) => {
      hasCome = true;
      chunksOf(fromNodeReadable(request)).then(() => failure = "none", (error) => failure = error);
    }, async (port) => {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.write("POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000\r\n\r\nabc");
      await until(() => hasCome, "the request");
      socket.destroy();
      await until(() => failure !== undefined, "the failure");
    });
    assert.ok(failure instanceof Error);
    assert.ok(["ECONNRESET", "ERR_STREAM_PREMATURE_CLOSE"].includes((failure as { code?: string }).code!));
  });

  it("gives the body of a request of node:http2", async () => {
    await withHttp2Server((server) => {
      server.on("request", (request, response) => {
        chunksOf(fromNodeReadable(request)).then((chunks) => {
          response.end(String(chunks.reduce((sum, { length }) => sum + length, 0)));
        }, assert.fail);
      });
    }, async (session) => {
      const request = session.request({ ":path": "/", ":method": "POST" });
      request.end(new Uint8Array(500_000));
      const [answer] = await once(request, "data");
      assert.equal(String(answer), "500000");
    });
  });
});
