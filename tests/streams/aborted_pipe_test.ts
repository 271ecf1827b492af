import assert from "node:assert/strict";
import test from "node:test";
import { pipeTo, ReadableStream, WritableStream } from "../../lib/streams/mod.ts";
import { within } from "../support/waits.ts";

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

const sources = { native: globalThis.ReadableStream, ours: ReadableStream as typeof globalThis.ReadableStream };
const destinations = { native: globalThis.WritableStream, ours: WritableStream as typeof globalThis.WritableStream };

for (const [name, Source] of Object.entries(sources)) {
  test(`pipeTo() that a signal aborts at any moment writes what it has read of a source that is ${name}`, async () => {
    for (let microtasks = 0; microtasks < 12; microtasks++) {
      const { written, left } = await abortAfter(microtasks, Source);
      assert.deepEqual([...written, ...left], [1, 2, 3], `aborted after ${microtasks} microtasks`);
    }
  });
}

/** Microtasks between a pipe's start and its source's chunk, and between a shutdown and its end. */
const MICROTASKS = 14;

for (const [from, Source] of Object.entries(sources)) {
  for (const [to, Destination] of Object.entries(destinations)) {
    test(`pipeTo() that a signal stops as a chunk comes has written it or left it, from ${from} to ${to}`, async () => {
      for (let before = 0; before < MICROTASKS; before++) {
        for (let delay = 0; delay < MICROTASKS; delay++) {
          let source!: ReadableStreamDefaultController<number>;
          const stream = new Source<number>({ start: (controller) => void (source = controller) }, {
            highWaterMark: 0,
          });
          const written: number[] = [];
          const destination = new Destination<number>({
            async write(chunk) {
              await undefined;
              written.push(chunk);
            },
          });
          const abort = new AbortController();
          const counts = { chunksRead: 0, chunksWritten: 0 };
          const open = { preventAbort: true, preventCancel: true, signal: abort.signal, counts };
          const piped = pipeTo(stream, destination, open).catch((reason) => reason);
          await after(MICROTASKS);
          void after(before).then(() => abort.abort("stopped"));
          void after(delay).then(() => source.enqueue(1));
          assert.equal(await within(piped, "the pipe"), "stopped");
          const settled = { counts: { ...counts }, written: [...written], locks: [stream.locked, destination.locked] };
          const chunks = written.length;
          assert.deepEqual(settled, {
            counts: { chunksRead: chunks, chunksWritten: chunks },
            written: [1].slice(0, chunks),
            locks: [false, false],
          }, `aborted after ${before} microtasks, a chunk after ${delay}`);
          await after(MICROTASKS);
          source.close();
          const left: number[] = [];
          for await (const chunk of stream as unknown as AsyncIterable<number>) left.push(chunk);
          assert.deepEqual([...written, ...left], [1], `aborted after ${before} microtasks, a chunk after ${delay}`);
        }
      }
    });
  }
}

async function after(microtasks: number): Promise<void> {
  for (let i = 0; i < microtasks; i++) await undefined;
}
