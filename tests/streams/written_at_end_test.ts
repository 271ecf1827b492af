import assert from "node:assert/strict";
import { Writable } from "node:stream";
import test from "node:test";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import * as ours from "../../lib/streams/mod.ts";

/*
 * A pipe that does not close its destination ends when all chunks that it read are written, so that later writes follow
 * them. Native streams do the same, and every pipe into any stream of this package must.
 */

const native = { ReadableStream, WritableStream };

/** Records a written chunk some turns after its arrival. */
type Write = (chunks: readonly unknown[]) => Promise<void>;

const marks = [0, 1, 2, 10];
const bytes = (highWaterMark: number): QueuingStrategy => ({ highWaterMark, size: () => 4 });
const chunkByChunk = (write: Write) => ({ write: (chunk: unknown) => write([chunk]) });

const destinations: Readonly<Record<string, (write: Write) => WritableStream>> = {
  ...Object.fromEntries(marks.flatMap((mark) =>
    [
      [`ours with a mark of ${mark}`, (write) => new ours.WritableStream(chunkByChunk(write), { highWaterMark: mark })],
      [`ours with a mark of ${mark} bytes`, (write) => new ours.WritableStream(chunkByChunk(write), bytes(mark))],
      [
        `a native one with a mark of ${mark} behind fromNative()`,
        (write) => ours.fromNative(new native.WritableStream(chunkByChunk(write), { highWaterMark: mark })),
      ],
      [
        `ours with a mark of ${mark} behind toNative()`,
        (write) => ours.toNative(new ours.WritableStream(chunkByChunk(write), { highWaterMark: mark })),
      ],
    ] as [string, (write: Write) => WritableStream][]
  )),
  batches: (write) => new BatchedWritableStream({ writev: write }),
  "batches of one": (write) => new BatchedWritableStream({ writev: write, maxBatch: 1 }),
  "batches that wait": (write) => new BatchedWritableStream({ writev: write, maxDelay: 5 }),
  "batches behind toNative()": (write) => ours.toNative(new BatchedWritableStream({ writev: write })),
  "a writable of node:stream": (write) =>
    fromNodeWritable(
      new Writable({ objectMode: true, write: (chunk, _encoding, done) => void write([chunk]).then(() => done()) }),
    ),
};

const options = { preventClose: true };

const pipes: Readonly<Record<string, (chunks: unknown[], destination: WritableStream) => Promise<void>>> = {
  "our pipe": (chunks, destination) => ours.ReadableStream.from(chunks).pipeTo(destination, options),
  "our pipe of a native stream": (chunks, destination) => ours.pipeTo(nativeSource(chunks), destination, options),
  "the runtime's pipe": (chunks, destination) => nativeSource(chunks).pipeTo(destination, options),
  "the runtime's pipe of ours": (chunks, destination) =>
    native.ReadableStream.prototype.pipeTo.call(ours.ReadableStream.from(chunks), destination, options),
};

function nativeSource(chunks: readonly unknown[]): ReadableStream {
  return new native.ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

const turn = (): Promise<void> => new Promise((passed) => setTimeout(passed));

for (const [way, pipe] of Object.entries(pipes)) {
  test(`${way} with preventClose ends when the destination, of any kind, has written all`, async () => {
    const wrong: string[] = [];
    const cases = Object.entries(destinations).flatMap(([kind, make]) =>
      [1, 2, 5, 40].filter((count) => count < 40 || !/\b[01]\b|native one/.test(kind)).map(async (count) => {
        if (/of 0/.test(kind)) return; // there is never room
        const written: unknown[] = [];
        const destination = make(async (chunks) => {
          await turn();
          written.push(...chunks);
        });
        const chunks = Array.from({ length: count }, (_, i) => i);
        await pipe(chunks, destination);
        if (written.join() !== chunks.join()) wrong.push(`${kind}, ${count} chunks: ${written.length} written`);
        await destination.close();
        assert.equal(written.length, count);
      })
    );
    await Promise.all(cases);
    assert.deepEqual(wrong, []);
  });
}

test("a native writer's last write is fulfilled when it is written, and those before it no later", async () => {
  for (const [kind, make] of Object.entries(destinations)) {
    if (/native|of 0/.test(kind)) continue;
    const written: unknown[] = [];
    const destination = make(async (chunks) => {
      await turn();
      written.push(...chunks);
    });
    const writer = native.WritableStream.prototype.getWriter.call(destination);
    for (const count of [1, 3]) {
      const writes = Array.from({ length: count }, (_, i) => writer.write(i));
      const length = written.length + count;
      await writes.at(-1);
      assert.equal(written.length, length, kind);
      await Promise.all(writes);
    }
    await writer.close();
  }
});
