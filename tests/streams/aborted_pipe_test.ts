import assert from "node:assert/strict";
import test from "node:test";
import { pipeTo, ReadableStream, WritableStream } from "../../lib/streams/mod.ts";

const CHUNKS = 3;

/**
 * Aborts a pipe after a number of microtasks; returns the written chunks, and those left in the source, which isn't
 * cancelled.
 */
async function abortAfter(
  microtasks: number,
  Source: typeof globalThis.ReadableStream,
): Promise<{ written: number[]; left: number[] }> {
  let given = 0;
  const source = new Source<number>({
    pull(controller): void {
      controller.enqueue(++given);
      if (given === CHUNKS) controller.close();
    },
  }, { highWaterMark: 0 });
  const written: number[] = [];
  const destination = new WritableStream<number>({ write: (chunk) => void written.push(chunk) });
  const abort = new AbortController();
  const piped = pipeTo(source, destination, { signal: abort.signal, preventCancel: true }).catch(() => {});
  for (let i = 0; i < microtasks; i++) await undefined;
  abort.abort();
  await piped;
  const left: number[] = [];
  for await (const chunk of source as unknown as AsyncIterable<number>) left.push(chunk);
  return { written, left };
}

for (const [name, Source] of Object.entries({ native: globalThis.ReadableStream, ours: ReadableStream })) {
  test(`pipeTo() that a signal aborts at any moment writes what it has read of a source that is ${name}`, async () => {
    for (let microtasks = 0; microtasks < 12; microtasks++) {
      const { written, left } = await abortAfter(microtasks, Source as typeof globalThis.ReadableStream);
      assert.deepEqual([...written, ...left], [1, 2, 3], `aborted after ${microtasks} microtasks`);
    }
  });
}
