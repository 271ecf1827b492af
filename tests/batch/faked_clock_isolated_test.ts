import assert from "node:assert/strict";
import test from "node:test";
import { BatchedWritableStream, coalesceBytes, readBatches } from "../../lib/batch/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { within } from "../support/waits.ts";

const { performance, queueMicrotask } = globalThis;
const started = performance.now();

/** The clocks that test runners put in place of the runtime's: none of them moves on by itself. */
const clocks: Record<string, () => number> = {
  "stands still": () => started,
  "was set back": () => 0,
};

/** Runs steps while the globals that test runners fake are faked; timers stay the real ones for the test itself. */
async function faked<T>(now: () => number, steps: () => Promise<T>): Promise<T> {
  const define = (name: string, value: unknown): void =>
    void Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, "performance")!;
  define("performance", { now });
  define("queueMicrotask", () => {});
  try {
    return await within(steps(), "the steps");
  } finally {
    Object.defineProperty(globalThis, "performance", descriptor);
    define("queueMicrotask", queueMicrotask);
  }
}

for (const [clock, now] of Object.entries(clocks)) {
  test(`a batch with maxDelay is written while the clock ${clock}`, async () => {
    const batches: number[][] = [];
    const stream = new BatchedWritableStream<number>({ maxDelay: 5, writev: (batch) => void batches.push(batch) });
    const writer = stream.getWriter();
    const before = writer.write(1);
    await faked(now, async () => {
      await before;
      await writer.write(2);
      await Promise.all([writer.write(3), writer.write(4)]);
      await writer.close();
    });
    assert.deepEqual(batches, [[1], [2], [3, 4]]);
  });

  test(`coalesceBytes() with maxDelay passes bytes on while the clock ${clock}`, async () => {
    const { readable, writable } = coalesceBytes({ size: 100, maxDelay: 5 });
    const writer = writable.getWriter();
    const { value } = await faked(now, () => {
      for (const byte of [1, 2]) void writer.write(Uint8Array.of(byte));
      return readable.getReader().read();
    });
    assert.deepEqual(value, Uint8Array.of(1, 2));
  });

  test(`readBatches() answers concurrent calls while the clock ${clock}`, async () => {
    let controller!: ReadableStreamDefaultController<number>;
    const stream = new ReadableStream<number>({ start: (given) => void (controller = given) });
    const batches = readBatches(stream);
    const results = await faked(now, async () => {
      const calls = [batches.next(), batches.next()];
      controller.enqueue(1);
      await calls[0];
      controller.enqueue(2);
      return Promise.all(calls);
    });
    assert.deepEqual(results, [{ done: false, value: [1] }, { done: false, value: [2] }]);
  });
}
