import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PassThrough, type Readable, Writable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createGzip, gunzipSync } from "node:zlib";
import { fromNodeReadable, fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { get, visitor, withHttp2Server, withHttpServer, withTcpServer } from "./loopback.ts";
import { until, within } from "../support/waits.ts";

/** The bytes that exceed any buffer on the way. */
const body = Uint8Array.from({ length: 3_000_000 }, (_, i) => i % 251);
const chunks = Array.from({ length: 300 }, (_, i) => body.subarray(i * 10_000, (i + 1) * 10_000));
const TAIL = "tail".repeat(10_000);
const whole = Buffer.concat([body, Buffer.from(TAIL)]);
const open = { preventClose: true };
const ENDED = {
  code: "ERR_STREAM_PREMATURE_CLOSE",
  message: "Cannot write: the writable was ended before the stream was closed",
};

/** Pipes the body, and lets others end the writable with a tail. */
async function pipeAndEnd(writable: Writable): Promise<void> {
  await ReadableStream.from(chunks).pipeTo(fromNodeWritable(writable), open);
  writable.end(TAIL);
}

/** Returns a writable that keeps what it is given, and takes as long as `hold` for each chunk. */
function collector(hold: () => Promise<void> = () => Promise.resolve()): { writable: Writable; written: string[] } {
  const written: string[] = [];
  const writable = new Writable({
    write(chunk, _encoding, done): void {
      hold().then(() => {
        written.push(String(chunk));
        done();
      });
    },
  });
  return { writable, written };
}

const listeners = (writable: Writable): number =>
  writable.eventNames().reduce((sum, name) => sum + writable.listenerCount(name), 0);

describe("fromNodeWritable() after a pipe with preventClose lets others end the writable, and all arrives", () => {
  it("over a socket, though its reader is slow", async () => {
    await withTcpServer((socket) => {
      // The bytes from the other side are never read: destroying such a socket drops its unsent bytes.
      pipeAndEnd(socket).catch(assert.fail);
    }, async (port) => {
      const socket = connect({ port, host: "127.0.0.1" }).pause();
      await once(socket, "connect");
      socket.write("to be left");
      await pause(100);
      const received: Uint8Array[] = [];
      for await (const chunk of socket) {
        received.push(chunk);
        if (received.length % 10 === 0) await pause(1);
      }
      assert.ok(Buffer.concat(received).equals(whole), `${Buffer.concat(received).length} bytes`);
    });
  });

  it("in a gzip that is piped on", async () => {
    const gzip = createGzip();
    const passed = new PassThrough();
    gzip.pipe(passed);
    const compressed = buffer(passed);
    await pipeAndEnd(gzip);
    assert.ok(gunzipSync(await within(compressed, "the output")).equals(whole));
  });

  it("in a gzip whose output is read late", async () => {
    const gzip = createGzip({ level: 9 });
    await ReadableStream.from(["head "]).pipeTo(fromNodeWritable<string>(gzip), open);
    gzip.end("tail");
    await once(gzip, "finish");
    await pause(20);
    assert.equal(String(gunzipSync(await within(buffer(gzip), "the output"))), "head tail");
  });

  it("in a response of node:http", async () => {
    await withHttpServer((response) => {
      pipeAndEnd(response).catch(assert.fail);
    }, async (port) => {
      const response = await fetch(`http://127.0.0.1:${port}`);
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(whole));
    });
  });

  it("in a response of node:http to a visitor who is slow", async () => {
    await withHttpServer((response) => {
      pipeAndEnd(response).catch(assert.fail);
    }, async (port) => {
      const socket = await visitor(port);
      await pause(100);
      let received = "";
      for await (const chunk of socket.resume()) received += Buffer.from(chunk).toString("latin1");
      assert.ok(received.includes("tail".repeat(100)) && received.endsWith("0\r\n\r\n"), `${received.length} bytes`);
    });
  });

  it("in a response of node:http2", async () => {
    await withHttp2Server((server) => {
      server.on("request", (_request, response) => {
        pipeAndEnd(response as unknown as Writable).catch(assert.fail);
      });
    }, async (session) => {
      assert.ok((await buffer(session.request({ ":path": "/" }))).equals(whole));
    });
  });

  it("in a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "millrace-node-"));
    try {
      const file = createWriteStream(join(folder, "file"));
      await pipeAndEnd(file);
      await within(once(file, "close"), "closing");
      assert.ok(readFileSync(join(folder, "file")).equals(whole));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("in a PassThrough that nobody has read from", async () => {
    const through = new PassThrough({ highWaterMark: 2 ** 23 });
    await pipeAndEnd(through);
    await once(through, "finish");
    await pause(20);
    assert.ok((await within(buffer(through), "the output")).equals(whole));
  });
});

describe("fromNodeWritable() of a writable that others end", () => {
  it("leaves it alone, errors, and rejects later writes", async () => {
    const { writable, written } = collector();
    const writer = fromNodeWritable<string>(writable).getWriter();
    await writer.write("head ");
    writable.end("tail");
    await assert.rejects(within(writer.closed, "the error"), ENDED);
    await assert.rejects(writer.write("more"), ENDED);
    assert.deepEqual(written, ["head ", "tail"]);
    assert.equal(writable.errored, null);
  });

  it("acknowledges the write that is in flight, rejects those that wait, and writes none of them", async () => {
    let pass = (): void => {};
    const passed = new Promise<void>((resolve) => pass = resolve);
    const { writable, written } = collector(() => passed);
    const errors: unknown[] = [];
    writable.on("error", (error) => errors.push(error));
    const writer = fromNodeWritable<string>(writable).getWriter();
    const first = writer.write("a");
    await until(() => writable.writableLength > 0, "the write in flight");
    const waiting = ["b", "c"].map((text) => assert.rejects(within(writer.write(text), "a write that waits"), ENDED));
    writable.end("tail");
    pass();
    await within(first, "the write in flight");
    await Promise.all(waiting);
    await until(() => writable.writableFinished, "the finish");
    await pause(20);
    assert.deepEqual([written, errors], [["a", "tail"], []]);
  });

  it("rejects what is closed or written after the end and before it has finished", async () => {
    for (const use of ["write", "close"] as const) {
      const { writable, written } = collector(() => pause(50));
      const errors: unknown[] = [];
      writable.on("error", (error) => errors.push(error));
      const writer = fromNodeWritable<string>(writable).getWriter();
      writable.end("tail");
      await assert.rejects(within(writer[use]("late"), use), ENDED);
      await within(once(writable, "finish"), "the finish");
      assert.deepEqual([written, errors, writable.errored], [["tail"], [], null]);
    }
  });

  it("cancels the source of a pipe into it", async () => {
    const { writable, written } = collector();
    const cancelled = new Promise<unknown>((cancel) => {
      const source = new ReadableStream<string>({ start: (controller) => controller.enqueue("head "), cancel });
      source.pipeTo(fromNodeWritable<string>(writable)).catch(() => {});
    });
    await until(() => written.length === 1, "the head");
    writable.end("tail");
    assert.equal((await within(cancelled, "cancelling") as Error).message, ENDED.message);
    await pause(20);
    assert.deepEqual([written, writable.errored], [["head ", "tail"], null]);
  });

  it("lets it end after the writer was released, or the stream dropped", async () => {
    const { writable, written } = collector();
    const writer = fromNodeWritable<string>(writable).getWriter();
    await writer.write("head ");
    writer.releaseLock();
    void fromNodeWritable<string>(writable);
    writable.end("tail");
    await within(once(writable, "close"), "closing");
    assert.deepEqual([written, writable.errored], [["head ", "tail"], null]);
  });

  it("destroys it still if the stream is aborted", async () => {
    const { writable } = collector(() => pause(1000));
    const stream = fromNodeWritable<string>(writable);
    writable.end("tail");
    await stream.abort(new Error("enough"));
    assert.equal(writable.destroyed, true);
  });

  it("destroys it not for an error that is not of a write of ours", async () => {
    const failure = new Error("of others");
    const writable = new Writable({ autoDestroy: false, write: (_chunk, _encoding, done) => done() });
    const writer = fromNodeWritable<string>(writable).getWriter();
    await writer.write("a");
    writable.emit("error", failure);
    await assert.rejects(within(writer.closed, "the error"), failure);
    assert.equal(writable.destroyed, false);
  });
});

describe("streams of fromNodeWritable() one after the other over one writable", () => {
  it("write all that they get, and the last one closes it", async () => {
    const { writable, written } = collector();
    await ReadableStream.from(["one "]).pipeTo(fromNodeWritable<string>(writable), open);
    await ReadableStream.from(["two "]).pipeTo(fromNodeWritable<string>(writable), open);
    const third = fromNodeWritable<string>(writable).getWriter();
    const fourth = fromNodeWritable<string>(writable);
    await ReadableStream.from(["four"]).pipeTo(fourth);
    await assert.rejects(within(third.closed, "the error of another"), ENDED);
    assert.deepEqual([written.join(""), writable.errored], ["one two four", null]);
  });

  it("add no listener each, warn of no leak, and leave none when the writable has closed", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    const { writable, written } = collector();
    const own = listeners(writable);
    let most = 0;
    for (let i = 0; i < 50; i++) {
      await ReadableStream.from([`${i} `]).pipeTo(fromNodeWritable<string>(writable), open);
      most = Math.max(most, listeners(writable) - own);
    }
    writable.end("tail");
    await within(once(writable, "close"), "closing");
    await pause(20);
    process.off("warning", warn);
    assert.deepEqual([written.length, warnings], [51, []]);
    assert.ok(most <= 3, `${most} listeners`);
    assert.equal(listeners(writable), own);
  });

  it("are one while it is unlocked and open, and error each when the writable fails", async () => {
    const failure = new Error("full");
    const { writable } = collector();
    const first = fromNodeWritable(writable);
    assert.equal(fromNodeWritable(writable), first);
    assert.notEqual(fromNodeWritable(writable, { highWaterMark: 5 }), first);
    const streams = Array.from({ length: 3 }, () => {
      const stream = fromNodeWritable(writable);
      return { stream, closed: stream.getWriter().closed };
    });
    assert.equal(new Set(streams.map(({ stream }) => stream)).size, 3);
    writable.destroy(failure);
    for (const { closed } of streams) await assert.rejects(within(closed, "the error"), failure);
    await assert.rejects(fromNodeWritable(writable).getWriter().closed, { code: "ERR_STREAM_PREMATURE_CLOSE" });
  });
});

describe("fromNodeReadable() that lets go with preventCancel", () => {
  const keep = { preventCancel: true };

  /** Reads a chunk, and leaves the rest to others. */
  async function firstOf(readable: Readable): Promise<string> {
    for await (const chunk of fromNodeReadable(readable).values(keep)) return new TextDecoder().decode(chunk);
    return "";
  }

  for (
    const [how, rest] of Object.entries({
      "in a loop": (readable: Readable) => text(readable),
      "by events": (readable: Readable) => {
        let all = "";
        readable.on("data", (chunk) => all += chunk);
        return once(readable, "end").then(() => all);
      },
      "by pipe()": (readable: Readable) => text(readable.pipe(new PassThrough())),
      "by another stream of ours": (readable: Readable) => new Response(fromNodeReadable(readable)).text(),
    })
  ) {
    it(`leaves the rest to be read ${how}`, async () => {
      const readable = new PassThrough();
      readable.write("head");
      assert.equal(await within(firstOf(readable), "the head"), "head");
      assert.equal(readable.destroyed, false);
      const read = rest(readable);
      for (const part of [" and", " the", " rest"]) {
        readable.write(part);
        await pause(5);
      }
      readable.end();
      assert.equal(await within(read, "the rest"), " and the rest");
    });
  }

  it("adds no listener each time, and leaves none when the readable has closed", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    const readable = new PassThrough();
    const own = readable.eventNames().reduce((sum, name) => sum + readable.listenerCount(name), 0);
    for (let i = 0; i < 50; i++) {
      readable.write(`${i}`);
      assert.equal(await within(firstOf(readable), "a chunk"), `${i}`);
    }
    readable.end();
    assert.equal(await within(firstOf(readable), "the end"), "");
    await until(() => readable.closed, "closing");
    await pause(20);
    process.off("warning", warn);
    assert.deepEqual(warnings, []);
    assert.equal(readable.eventNames().reduce((sum, name) => sum + readable.listenerCount(name), 0), own);
  });
});

describe("a page in several parts", () => {
  it("is sent whole if each part is a pipe and the application ends the response", async () => {
    await withHttpServer(async (response) => {
      for (const part of ["head ", "body ", "foot "]) {
        await ReadableStream.from([part]).pipeTo(fromNodeWritable<string>(response), open);
      }
      response.end("end");
    }, async (port) => {
      const { body, isWhole } = await get(port);
      assert.deepEqual({ body, isWhole }, { body: "head body foot end", isWhole: true });
    });
  });
});
