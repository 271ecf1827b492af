import assert from "node:assert/strict";
import test from "node:test";
import { fromNative, toNative } from "../../lib/streams/mod.ts";
import { quiet } from "./drop_in_comparison.ts";
import { native, ours, type StreamClasses } from "./drop_in_implementations.ts";

const KIB_64 = 65_536;
const bridges: Readonly<Record<string, { from: StreamClasses; cross: typeof toNative }>> = {
  "toNative()": { from: ours, cross: toNative },
  "fromNative()": { from: native, cross: fromNative as typeof toNative },
};

test("toNative() takes 16 chunks at once of what is buffered, and the next ones as these are read", async () => {
  let controller!: ReadableStreamDefaultController<number>;
  const stream = new ours.ReadableStream<number>({ start: (given) => void (controller = given) }, { highWaterMark: 0 });
  for (let i = 0; i < 100; i++) controller.enqueue(i);
  const buffered = (): number => -controller.desiredSize!;
  const reader = toNative(stream).getReader();
  await quiet();
  assert.equal(buffered(), 84);
  for (let i = 0; i < 10; i++) assert.equal((await reader.read()).value, i);
  await quiet();
  assert.equal(buffered(), 74);
});

test("toNative() of a byte stream takes what is buffered up to 64 KiB", async () => {
  let controller!: ReadableByteStreamController;
  const stream = new ours.ReadableStream({ type: "bytes", start: (given) => void (controller = given) });
  for (let i = 0; i < 10; i++) controller.enqueue(new Uint8Array(KIB_64 / 4));
  toNative(stream);
  await quiet();
  assert.equal(-controller.desiredSize!, 6 * KIB_64 / 4);
});

test("toNative() of a writable has room for 16 chunks while the sink is busy with the first", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const writer = toNative(new ours.WritableStream({ write: () => gate })).getWriter();
  assert.equal(writer.desiredSize, 16);
  const writes = Array.from({ length: 16 }, (_, i) => writer.write(i));
  assert.equal(writer.desiredSize, 0);
  open();
  await Promise.all(writes);
  assert.equal(writer.desiredSize, 16);
});

test("fromNative() reads a byte stream into buffers of 64 KiB", async () => {
  const sizes: (number | undefined)[] = [];
  const stream = new native.ReadableStream({
    type: "bytes",
    pull(controller): void {
      sizes.push(controller.byobRequest?.view?.byteLength);
      if (sizes.length > 3) controller.close();
      controller.byobRequest!.respond(sizes.length > 3 ? 0 : 10);
    },
  });
  const chunks = await Array.fromAsync(fromNative(stream));
  assert.deepEqual(chunks.map((chunk) => chunk.byteLength), [10, 10, 10]);
  assert.deepEqual(sizes, [KIB_64, KIB_64, KIB_64, KIB_64]);
});

for (const [name, { from, cross }] of Object.entries(bridges)) {
  for (const type of [undefined, "bytes"] as const) {
    const kind = type === undefined ? "a stream" : "a byte stream";

    test(`${name} of ${kind} that has closed already is closed, and of one that has errored, errored`, async () => {
      const start = (end: (controller: ReadableStreamDefaultController) => void): ReadableStream => {
        return new from.ReadableStream({ type, start: end } as UnderlyingSource);
      };
      const closed = cross(start((controller) => controller.close())).getReader();
      assert.equal((await closed.read()).done, true);
      await closed.closed;

      const reason = new RangeError("source broke");
      const errored = cross(start((controller) => controller.error(reason))).getReader();
      await assert.rejects(errored.closed, (error) => error === reason);
      await assert.rejects(errored.read(), (error) => error === reason);
    });
  }

  test(`${name} of a writable that has errored already refuses chunks with its error, and is errored then`, async () => {
    const reason = new RangeError("sink broke");
    const broken = new from.WritableStream({ start: (controller) => controller.error(reason) });
    const writer = cross(broken).getWriter();
    await assert.rejects(writer.write("a"), (error) => error === reason);
    await assert.rejects(writer.closed, (error) => error === reason);
  });

  test(`${name} of a byte stream passes cancel() back to a source that waits`, async () => {
    const { promise: cancelled, resolve: cancel } = Promise.withResolvers<unknown>();
    const reader = cross(new from.ReadableStream({ type: "bytes", cancel })).getReader();
    const read = reader.read();
    await quiet(1);
    const reason = { no: "error" };
    await reader.cancel(reason);
    assert.equal(await cancelled, reason);
    assert.equal((await read).done, true);
  });
}
