import assert from "node:assert/strict";
import test from "node:test";
import { fromNative, pipeTo, toNative, WritableStream } from "../../lib/streams/mod.ts";
import { eventually, quiet } from "./drop_in_comparison.ts";
import { native, ours, type StreamClasses } from "./drop_in_implementations.ts";
import { utf8, watched } from "./drop_in_streams.ts";

/** A way across: from streams of one implementation to streams of the other. */
interface Bridge {
  readonly from: StreamClasses;
  readonly to: StreamClasses;
  readonly cross: typeof toNative;
}

const bridges: Readonly<Record<string, Bridge>> = {
  "toNative()": { from: ours, to: native, cross: toNative },
  "fromNative()": { from: native, to: ours, cross: fromNative as typeof toNative },
};
const numbers = Array.from({ length: 1000 }, (_, i) => i);

/** The number of chunks above every bridge's capacity: 64 KiB and 16 chunks, with a margin. */
const FAR = 64;

for (const [name, { from, to, cross }] of Object.entries(bridges)) {
  test(`${name} gives a stream of the other class, and locks the one it was given`, () => {
    const readable = new from.ReadableStream();
    const crossed = cross(readable);
    assert.equal(Object.getPrototypeOf(crossed), to.ReadableStream.prototype);
    assert.deepEqual([readable.locked, crossed.locked], [true, false]);
    const writable = new from.WritableStream();
    assert.equal(Object.getPrototypeOf(cross(writable)), to.WritableStream.prototype);
    assert.equal(writable.locked, true);
  });

  test(`${name} returns a stream that is of that class already`, () => {
    for (const stream of [new to.ReadableStream(), new to.WritableStream()]) {
      assert.equal(cross(stream as ReadableStream), stream);
      assert.equal(stream.locked, false);
    }
  });

  test(`${name} refuses a locked stream and what is no stream`, () => {
    const readable = new from.ReadableStream();
    readable.getReader();
    const writable = new from.WritableStream();
    writable.getWriter();
    for (const wrong of [readable, writable, {}, { readable, writable }, null, undefined, "stream"]) {
      assert.throws(() => cross(wrong as ReadableStream), TypeError);
    }
  });

  for (const highWaterMark of [0, 1, 100]) {
    test(`${name} gives every chunk of a source with highWaterMark ${highWaterMark} once and in order`, async () => {
      const { stream } = watched(from, numbers, { highWaterMark });
      assert.deepEqual(await Array.fromAsync(cross(stream)), numbers);
    });
  }

  test(`${name} gives what was enqueued before and after it, and chunks that are undefined or functions`, async () => {
    let controller!: ReadableStreamDefaultController<unknown>;
    const stream = new from.ReadableStream<unknown>({ start: (given) => void (controller = given) });
    const chunks = [undefined, null, Object, () => {}, Promise.resolve(1), { then: "no" }];
    for (const chunk of chunks) controller.enqueue(chunk);
    const reader = cross(stream).getReader();
    for (const chunk of chunks) assert.equal((await reader.read()).value, chunk);
    const late = reader.read();
    controller.enqueue("late");
    controller.close();
    assert.deepEqual(await late, { done: false, value: "late" });
    assert.equal((await reader.read()).done, true);
  });

  test(`${name} passes the source's error on after what it enqueued was read, and cancellation back`, async () => {
    const broken = new RangeError("source broke");
    const { stream } = watched(from, ["a"], { highWaterMark: 0, failure: broken });
    const reader = cross(stream).getReader();
    assert.deepEqual(await reader.read(), { done: false, value: "a" });
    await assert.rejects(reader.read(), (error) => error === broken);

    const reason = { no: "error" };
    const source = watched(from, numbers);
    await cross(source.stream).cancel(reason);
    assert.equal(await eventually(source.cancelled), reason);
  });

  test(`${name} does not empty a source that nobody reads`, async () => {
    const { stream, given } = watched(from, numbers, { highWaterMark: 0 });
    const reader = cross(stream).getReader();
    await quiet();
    assert.ok(given() < FAR, `${given()} chunks ahead`);
    await reader.read();
    await quiet();
    assert.ok(given() < FAR + 1, `${given()} chunks ahead`);
  });

  test(`${name} of a byte stream gives one that reads into the caller's buffer`, async () => {
    const { stream } = watched(from, numbers.map((n) => utf8(`${n},`)), { type: "bytes", highWaterMark: 0 });
    const reader = cross(stream).getReader({ mode: "byob" });
    const text = new TextDecoder();
    let received = "";
    let view = new Uint8Array(100);
    for (;;) {
      const { done, value } = await reader.read(view);
      if (done) break;
      assert.ok(value.length <= 100);
      received += text.decode(value, { stream: true });
      view = new Uint8Array(value.buffer);
      assert.equal(view.length, 100);
    }
    assert.equal(received, numbers.map((n) => `${n},`).join(""));
  });

  test(`${name} of a writable writes every chunk in order, then closes`, async () => {
    const seen: unknown[] = [];
    const writer = cross(
      new from.WritableStream({
        async write(chunk): Promise<void> {
          await Promise.resolve();
          seen.push(chunk);
        },
        close: () => void seen.push("closed"),
      }),
    ).getWriter();
    for (const n of numbers) writer.write(n);
    await writer.close();
    assert.deepEqual(seen, [...numbers, "closed"]);
  });

  test(`${name} of a writable is full while its sink is busy`, async () => {
    let started = 0;
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const sink = {
      write: (): Promise<void> => {
        started++;
        return opened;
      },
    };
    const writer = cross(new from.WritableStream(sink)).getWriter();
    let written = 0;
    while (written < FAR && await eventually(writer.ready.then(() => true), 30) === true) {
      writer.write(written++);
    }
    assert.ok(written < FAR, "it takes any number of chunks");
    assert.equal(started, 1);
    open();
    await writer.close();
    assert.equal(started, written);
  });

  test(`${name} of a writable passes abort() on and the sink's error back`, async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<unknown>();
    const reason = { no: "error" };
    await cross(new from.WritableStream({ abort: resolve })).abort(reason);
    assert.equal(await eventually(aborted), reason);

    const broken = new RangeError("sink broke");
    const writer = cross(
      new from.WritableStream({
        write(): void {
          throw broken;
        },
      }),
    ).getWriter();
    writer.write("a").catch(() => {});
    await assert.rejects(writer.closed, (error) => error === broken);
  });

  test(`${name} of a writable has abort() reach the signal of a write in flight`, async () => {
    for (
      const ends of [(writable: WritableStream) => cross(writable), (writable: WritableStream) => {
        const readable = new from.ReadableStream();
        return cross({ readable, writable } as { readable: ReadableStream; writable: WritableStream }).writable;
      }]
    ) {
      const aborts: unknown[] = [];
      const writable = new from.WritableStream<string>({
        write: (_, { signal }) =>
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
        abort: (reason) => void aborts.push(reason),
      });
      const writer = ends(writable as never).getWriter();
      const written = writer.write("a");
      const closed = writer.closed;
      await quiet();
      const aborted = writer.abort("stop");
      const again = writer.abort("stop again");
      assert.deepEqual(
        await Promise.all([written, closed].map((promise) => promise.catch((error: unknown) => error))),
        ["stop", "stop"],
      );
      await Promise.all([aborted, again]);
      assert.deepEqual(aborts, ["stop"]);
    }
  });

  test(`${name} of a transform gives both ends, and pipes through them`, async () => {
    const doubled = new from.TransformStream<number, number>({
      transform: (n, controller) => controller.enqueue(2 * n),
      flush: (controller) => controller.enqueue(-1),
    });
    const pair = cross(doubled);
    assert.equal(Object.getPrototypeOf(pair.readable), to.ReadableStream.prototype);
    assert.equal(Object.getPrototypeOf(pair.writable), to.WritableStream.prototype);
    const through = watched(to, numbers).stream.pipeThrough(pair);
    assert.deepEqual(await Array.fromAsync(through), [...numbers.map((n) => 2 * n), -1]);
  });

  test(`${name} and back gives the same chunks`, async () => {
    const back = name === "toNative()" ? fromNative : toNative;
    const { stream } = watched(from, numbers);
    assert.deepEqual(await Array.fromAsync(back(cross(stream)) as ReadableStream<number>), numbers);
  });
}

for (const type of [undefined, "bytes"] as const) {
  test(`fromNative() closes with a native ${type ?? "default"} stream that nobody reads at the time`, async () => {
    let controller!: ReadableStreamDefaultController | ReadableByteStreamController;
    const closing = new native.ReadableStream({
      type,
      start: (given: ReadableStreamDefaultController | ReadableByteStreamController) => void (controller = given),
    } as UnderlyingDefaultSource);
    const full = new ours.WritableStream({}, { highWaterMark: 0 }); // so that the pipe never asks for a chunk
    const piped = fromNative(closing).pipeTo(full);
    await new Promise((resolve) => setTimeout(resolve, 5));
    controller.close();
    assert.equal(await eventually(piped), undefined);
  });
}

test("fromNative() closes with a native byte stream that does not answer for the view of a read", async () => {
  const closing = new native.ReadableStream({
    type: "bytes",
    pull: (controller: ReadableByteStreamController) => controller.close(),
  } as never);
  assert.deepEqual(await eventually(fromNative(closing).getReader().read()), { done: true, value: undefined });
});

for (const type of [undefined, "bytes"] as const) {
  test(`a chunk that a native ${type ?? "default"} stream has buffered comes through though taking it has it err`, async () => {
    const error = new Error("at the end");
    const opened = async (): Promise<globalThis.ReadableStream<Uint8Array<ArrayBuffer>>> => {
      let pulls = 0;
      const pull = (controller: ReadableStreamDefaultController | ReadableByteStreamController): void => {
        controller.enqueue(new Uint8Array([++pulls]));
        if (pulls === 3) controller.error(error);
      };
      const stream = new native.ReadableStream({ type, pull } as UnderlyingSource, { highWaterMark: 2 });
      await quiet(1); // two are buffered
      return stream;
    };
    const written: number[] = [];
    const destination = new WritableStream<Uint8Array>({ write: ([byte]) => void written.push(byte) });
    await assert.rejects(pipeTo(await opened(), destination), error);
    assert.deepEqual(written, [1]);
    const reader = fromNative(await opened()).getReader();
    assert.equal((await reader.read()).value?.[0], 1);
    await assert.rejects(reader.read(), error);
  });
}
