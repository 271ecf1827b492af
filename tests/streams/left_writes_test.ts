import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { pipeTo, ReadableStream, TransformStream } from "../../lib/streams/mod.ts";

const microtasks = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await undefined;
};

/** Writes three chunks by a writer, releases it, and pipes two more, with pauses of so many microtasks between the steps. */
async function written(reads: number, highWaterMark: number, pause: number): Promise<string[]> {
  const store = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  const { readable, writable } = new TransformStream<number, number>({
    transform(chunk, controller) {
      seen.push(`${chunk} ${store.getStore() ?? "none"}`);
      controller.enqueue(chunk);
    },
  }, { highWaterMark });
  const reader = readable.getReader();
  const first = Array.from({ length: reads }, () => reader.read());
  await microtasks(pause);
  const writer = writable.getWriter();
  const writes = [1, 2, 3].map((chunk) => store.run("writer", () => writer.write(chunk)));
  await microtasks(pause);
  writer.releaseLock();
  const source = new ReadableStream<number>({
    start(controller) {
      controller.enqueue(4);
      controller.enqueue(5);
      controller.close();
    },
  });
  const piped = store.run("pipe", () => pipeTo(source, writable));
  await microtasks(pause);
  const chunks: number[] = [];
  for (const read of first) chunks.push((await read).value!);
  for (let step = await reader.read(); !step.done; step = await reader.read()) chunks.push(step.value);
  await Promise.all([piped, ...writes]);
  assert.deepEqual(chunks, [1, 2, 3, 4, 5]);
  return seen;
}

for (const highWaterMark of [1, 4]) {
  test(`what a released writer left comes before a pipe's chunks, through a transform of mark ${highWaterMark}`, async () => {
    for (const reads of [0, 1, 2]) {
      for (const pause of [0, 1, 3, 8]) {
        const seen = await written(reads, highWaterMark, pause);
        const foreign = seen.filter((each, i) => each.endsWith(i < 3 ? "pipe" : "writer"));
        assert.deepEqual(foreign, [], `${reads} reads, ${pause} microtasks`);
      }
    }
  });
}
