import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { PassThrough, Writable } from "node:stream";
import { describe, it } from "node:test";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { recordWrites } from "./loopback.ts";
import { turn, until, within } from "../support/waits.ts";

/** Returns a writable that keeps what it is given, each chunk as long as `hold` says. */
function collector(
  options: { objectMode?: boolean; decodeStrings?: boolean; hold?: () => Promise<void>; final?: () => Promise<void> } =
    {},
): { writable: Writable; written: unknown[] } {
  const { hold, final, ...rest } = options;
  const written: unknown[] = [];
  const writable = new Writable({
    ...rest,
    write(chunk, _encoding, done): void {
      written.push(chunk);
      if (hold === undefined) done();
      else hold().then(() => done(), done);
    },
    final: (done) => void (final?.() ?? Promise.resolve()).then(() => done(), done),
  });
  return { writable, written };
}

function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => open = resolve);
  return { open, passed };
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Returns the state of each promise. */
async function outcomes(promises: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await within(Promise.allSettled(promises), "settling");
  return settled.map((one) => one.status === "fulfilled" ? "fulfilled" : one.reason);
}

describe("fromNodeWritable() of a writable", () => {
  it("writes the byte chunks of a turn as one", async () => {
    const { writable, written } = collector();
    const calls = recordWrites(writable);
    const writer = fromNodeWritable(writable).getWriter();
    await Promise.all([writer.write(bytes("mill")), writer.write(bytes("")), writer.write(bytes("race"))]);
    assert.deepEqual(calls, ["write 8 bytes"]);
    await writer.close();
    assert.deepEqual(calls, ["write 8 bytes", "end"]);
    assert.equal(written.join(""), "millrace");
  });

  it("passes on a chunk that is alone as it is", async () => {
    const { writable, written } = collector();
    const chunk = new Uint8Array(10);
    await fromNodeWritable(writable).getWriter().write(chunk);
    assert.equal((written[0] as Uint8Array).buffer, chunk.buffer);
  });

  it("writes the strings of a turn as one string", async () => {
    const { writable, written } = collector({ decodeStrings: false });
    const writer = fromNodeWritable<string>(writable).getWriter();
    await Promise.all([writer.write("\u{1f30a}".slice(0, 1)), writer.write("\u{1f30a}".slice(1)), writer.write("é")]);
    assert.deepEqual(written, ["\u{1f30a}é"]);
  });

  it("encodes strings among bytes as UTF-8, also a character that two strings share", async () => {
    const { writable, written } = collector();
    const writer = fromNodeWritable(writable).getWriter();
    const chunks = [bytes("<"), "\u{1f30a}".slice(0, 1), "\u{1f30a}".slice(1), bytes(">"), "é"];
    await Promise.all(chunks.map((chunk) => writer.write(chunk)));
    assert.deepEqual(written.map(String), ["<\u{1f30a}>é"]);
  });

  it("takes views and buffers of every kind for their bytes", async () => {
    const { writable, written } = collector();
    const writer = fromNodeWritable(writable).getWriter();
    const { buffer } = bytes("0123456789");
    const chunks = [new DataView(buffer, 1, 2), new Uint16Array(buffer, 4, 1), buffer.slice(8)];
    await Promise.all(chunks.map((chunk) => writer.write(chunk)));
    await writer.write(new DataView(buffer, 6, 1));
    assert.deepEqual(written.map(String), ["124589", "6"]);
  });

  it("does not copy large chunks, but writes them one by one, between cork() and uncork()", async () => {
    const batches: unknown[][] = [];
    const writable = new Writable({
      write: (chunk, _encoding, done) => void (batches.push([chunk]), done()),
      writev: (chunks, done) => void (batches.push(chunks.map(({ chunk }) => chunk)), done()),
    });
    const chunks = Array.from({ length: 5 }, () => new Uint8Array(10_000));
    const writer = fromNodeWritable(writable).getWriter();
    await Promise.all(chunks.map((chunk) => writer.write(chunk)));
    assert.deepEqual(batches.map((batch) => batch.length), [5]);
    batches[0].forEach((chunk, i) => assert.equal((chunk as Uint8Array).buffer, chunks[i].buffer));
  });

  it("fills its queue while it writes, and writes half of it at a time", async () => {
    const lengths: number[] = [];
    const writable = new Writable({
      write: (chunk, _encoding, done) => void (lengths.push(chunk.length), setImmediate(done)),
    });
    let left = 1000;
    const source = new ReadableStream({
      pull: (controller) => left-- > 0 ? controller.enqueue(new Uint8Array(1000)) : controller.close(),
    });
    await within(source.pipeTo(fromNodeWritable(writable, { highWaterMark: 100_000 })), "the pipe");
    assert.equal(lengths.reduce((sum, length) => sum + length), 1_000_000);
    assert.deepEqual(new Set(lengths.slice(0, -1)), new Set([50_000]));
  });

  it("writes objects one by one, between cork() and uncork()", async () => {
    const batches: unknown[][] = [];
    const writable = new Writable({
      objectMode: true,
      write: (chunk, _encoding, done) => void (batches.push([chunk]), done()),
      writev: (chunks, done) => void (batches.push(chunks.map(({ chunk }) => chunk)), done()),
    });
    const source = ReadableStream.from([1, { two: 2 }, ["three"]]);
    await within(source.pipeTo(fromNodeWritable(writable)), "the pipe");
    assert.deepEqual(batches, [[1, { two: 2 }, ["three"]]]);
    assert.equal(writable.writableFinished, true);
  });

  it("acknowledges a write when the writable has called back, and writes what queued up meanwhile as one", async () => {
    const first = gate();
    const { writable, written } = collector({ hold: () => written.length === 1 ? first.passed : Promise.resolve() });
    const writer = fromNodeWritable<string>(writable).getWriter();
    let acknowledged = 0;
    const count = (): void => void acknowledged++;
    const writes = [writer.write("a").then(count)];
    await until(() => written.length === 1, "the first write");
    writes.push(writer.write("b").then(count), writer.write("c").then(count));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    assert.deepEqual([acknowledged, written.length], [0, 1]);
    first.open();
    await Promise.all(writes);
    assert.deepEqual(written.map(String), ["a", "bc"]);
  });

  it("counts what waits and is in flight, strings by their length, against its highWaterMark", async () => {
    const first = gate();
    const { writable } = collector({ hold: () => first.passed });
    const writer = fromNodeWritable(writable, { highWaterMark: 10 }).getWriter();
    const write = writer.write("ééé");
    assert.equal(writer.desiredSize, 7);
    const writes = [write, writer.write(new Uint8Array(7))];
    assert.equal(writer.desiredSize, 0);
    first.open();
    await Promise.all(writes);
    assert.equal(writer.desiredSize, 10);
  });

  it("never has more than a batch in the writable, even if its own high-water mark is larger", async () => {
    let most = 0;
    const writable = new Writable({
      highWaterMark: 1e9,
      write(_chunk, _encoding, done): void {
        most = Math.max(most, this.writableLength);
        setImmediate(done);
      },
    });
    let left = 200;
    const source = new ReadableStream({
      pull: (controller) => left-- > 0 ? controller.enqueue(new Uint8Array(10_000)) : controller.close(),
    });
    await within(source.pipeTo(fromNodeWritable(writable)), "the pipe");
    assert.ok(most > 20_000 && most <= 80_000, `${most} bytes`);
  });

  it("waits when closing until the writable has finished", async () => {
    const finishing = gate();
    const { writable } = collector({ final: () => finishing.passed });
    const closed = ReadableStream.from(["a"]).pipeTo(fromNodeWritable<string>(writable));
    let isClosed = false;
    void closed.then(() => isClosed = true);
    await until(() => writable.writableEnded, "the end");
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isClosed, false);
    finishing.open();
    await within(closed, "closing");
    assert.equal(writable.writableFinished, true);
  });

  it("rejects exactly the writes that the writable has not acknowledged when one fails", async () => {
    const failure = new Error("full");
    const written: string[] = [];
    const writable = new Writable({
      write(chunk, _encoding, done): void {
        written.push(String(chunk));
        done(written.length === 2 ? failure : null);
      },
    });
    const writer = fromNodeWritable<string>(writable).getWriter();
    const writes = [writer.write("a"), writer.write("b")];
    await writes[0];
    writes.push(writer.write("c"), writer.write("d"));
    const settled = outcomes([...writes, writer.closed]);
    await until(() => written.length === 2, "the second batch");
    assert.deepEqual(await settled, ["fulfilled", "fulfilled", failure, failure, failure]);
    assert.deepEqual(await outcomes([writer.write("e")]), [failure]);
    assert.deepEqual(written, ["ab", "cd"]);
    assert.equal(writable.destroyed, true);
  });

  it("errors with what the writable's end fails with", async () => {
    const failure = new Error("no room for the end");
    const { writable } = collector({ final: () => Promise.reject(failure) });
    await assert.rejects(within(fromNodeWritable(writable).close(), "closing"), failure);
  });

  it("destroys the writable if a chunk is none", async () => {
    const { writable } = collector();
    const source = ReadableStream.from(["a", 1 as unknown as string]);
    await assert.rejects(within(source.pipeTo(fromNodeWritable<string>(writable)), "the pipe"), {
      name: "TypeError",
      message: /type number: use a string, an ArrayBuffer or a view/,
    });
    assert.equal(writable.destroyed, true);
  });

  for (
    const { what, spoil, code } of [
      { what: "is destroyed", spoil: (writable: Writable) => writable.destroy(), code: "ERR_STREAM_PREMATURE_CLOSE" },
      { what: "is ended by others", spoil: (writable: Writable) => writable.end(), code: "ERR_STREAM_PREMATURE_CLOSE" },
      {
        what: "fails",
        spoil: (writable: Writable) => writable.destroy(Object.assign(new Error("gone"), { code: "EGONE" })),
        code: "EGONE",
      },
    ]
  ) {
    it(`errors at once when the writable ${what}, so that a pipe cancels its source`, async () => {
      const { writable } = collector();
      const cancelled = new Promise<unknown>((cancel) => {
        const source = new ReadableStream({ cancel });
        source.pipeTo(fromNodeWritable(writable)).catch(() => {});
      });
      spoil(writable);
      assert.equal((await within(cancelled, "cancelling") as { code: string }).code, code);
    });

    it(`is errored from the start if the writable ${what} before`, async () => {
      const { writable } = collector();
      writable.on("error", () => {});
      spoil(writable);
      await new Promise((resolve) => setImmediate(resolve));
      const stream = fromNodeWritable(writable);
      const expected = { code: "ERR_STREAM_PREMATURE_CLOSE" };
      await assert.rejects(within(ReadableStream.from(["a"]).pipeTo(stream), "the pipe"), expected);
    });
  }

  it("destroys the writable with the reason of an abort, at once, though a write is in flight", async () => {
    const reason = new Error("enough");
    const { writable, written } = collector({ hold: () => new Promise(() => {}) });
    const errored = new Promise((resolve) => writable.on("error", resolve));
    const stream = fromNodeWritable<string>(writable);
    const writer = stream.getWriter();
    const write = writer.write("a");
    await until(() => written.length === 1, "the write");
    await turn(); // from then on it looks for an abort
    const aborted = writer.abort(reason);
    assert.equal(writable.destroyed, true);
    assert.deepEqual(await outcomes([aborted, write]), ["fulfilled", reason]);
    assert.equal(await within(errored, "the writable's error"), reason);
  });

  it("wraps a reason that is no error", async () => {
    const { writable } = collector();
    const errored = new Promise<unknown>((resolve) => writable.on("error", resolve));
    await fromNodeWritable(writable).abort("enough");
    const error = await within(errored, "the writable's error") as Error;
    assert.ok(error instanceof Error);
    assert.equal(error.cause, "enough");
  });

  for (
    const [end, run] of Object.entries({
      close: (stream: WritableStream) => stream.close(),
      abort: (stream: WritableStream) => stream.abort(new Error("enough")),
      failure: (stream: WritableStream) => stream.getWriter().write(1),
    })
  ) {
    it(`leaves no listener behind after a ${end}`, async () => {
      const { writable } = collector();
      const closed = new Promise((resolve) => writable.on("close", resolve));
      await run(fromNodeWritable(writable)).catch(() => {});
      await within(closed, "closing");
      const counts = ["error", "finish", "drain", "close"].map((event) => writable.listenerCount(event));
      assert.deepEqual(counts.reduce((sum, count) => sum + count), 1); // the test's own
    });
  }

  it("keeps to the backpressure of a transform whose output nobody reads yet", async () => {
    const through = new PassThrough({ highWaterMark: 1000 });
    let pulled = 0;
    const source = new ReadableStream({
      pull(controller): void {
        if (pulled++ === 1000) controller.close();
        else controller.enqueue(new Uint8Array(1000));
      },
    });
    const piped = source.pipeTo(fromNodeWritable(through, { highWaterMark: 5000 }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.ok(pulled < 200, `${pulled} chunks`);
    let length = 0;
    for await (const chunk of through) length += chunk.length;
    await within(piped, "the pipe");
    assert.equal(length, 1_000_000);
  });

  it("says what is no writable", () => {
    const wrong = [undefined, null, 1, {}, new WritableStream(), ReadableStream.from([])] as unknown as Writable[];
    for (const one of wrong) assert.throws(() => fromNodeWritable(one), /must be a writable stream of node:stream/);
    const { writable } = collector();
    for (const highWaterMark of [-1, NaN]) {
      assert.throws(() => fromNodeWritable(writable, { highWaterMark }), {
        name: "RangeError",
        message: /highWaterMark/,
      });
    }
  });

  it("writes strings as UTF-8, whatever default encoding the writable has, and however they come in batches", async () => {
    for (const encoding of ["latin1", "hex", "utf16le"] as const) {
      for (const chunks of [["é", "ab"], ["é", bytes("ab")], [bytes(""), "é", "ab"], ["é"]]) {
        const { writable, written } = collector();
        writable.setDefaultEncoding(encoding);
        const writer = fromNodeWritable(writable).getWriter();
        for (const chunk of chunks) void writer.write(chunk);
        await within(writer.ready, "writing");
        await within(writer.write("ü"), "writing");
        await within(writer.close(), "closing");
        const expected = chunks.map((chunk) => typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk))
          .join("");
        assert.equal(Buffer.concat(written as Uint8Array[]).toString(), `${expected}ü`);
      }
    }
  });

  it("destroys a writable whose end() throws, and leaves no rejection without a handler", async () => {
    const { writable } = collector();
    writable.end = (): never => {
      throw new Error("too short");
    };
    const writer = fromNodeWritable(writable).getWriter();
    await within(writer.write("a"), "writing");
    await assert.rejects(within(writer.close(), "closing"), /too short/);
    assert.ok(writable.destroyed);
    assert.equal(writable.errored?.message, "too short");
    await assert.rejects(within(writer.closed, "the end"), /too short/);
  });
});
