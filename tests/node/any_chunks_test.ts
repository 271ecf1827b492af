import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Readable, Writable } from "node:stream";
import { it } from "node:test";
import fc from "fast-check";
import { fromNodeReadable, fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { within } from "../support/waits.ts";
import { tries } from "../support/long_run.ts";

type Chunk = string | Uint8Array;

const chunk = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.uint8Array({ maxLength: 40 }),
  fc.integer({ min: 4000, max: 9000 }).map((length) => new Uint8Array(length).fill(length)),
);
/** Chunks, each with a flag: whether a turn of the event loop passes before it. */
const chunks = fc.array(fc.tuple(fc.boolean(), chunk), { maxLength: 60 });

async function* withPauses(all: readonly (readonly [boolean, Chunk])[]): AsyncGenerator<Chunk> {
  for (const [pauses, one] of all) {
    if (pauses) await new Promise((resolve) => setImmediate(resolve));
    yield one;
  }
}

const joined = (all: readonly Chunk[]): Buffer => Buffer.concat(all.map((one) => Buffer.from(one as string)));

it("any chunks, at any times, arrive at a writable whole, in order and once", async () => {
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 20_000 }), fc.boolean(), async (all, highWaterMark, isSlow) => {
      const written: Uint8Array[] = [];
      const writable = new Writable({
        write(bytes, _encoding, done): void {
          written.push(bytes);
          if (isSlow) setImmediate(done);
          else done();
        },
      });
      const source = ReadableStream.from(withPauses(all));
      await within(source.pipeTo(fromNodeWritable<Chunk>(writable, { highWaterMark })), "the pipe");
      assert.deepEqual(joined(written), joined(all.map(([, one]) => one)));
    }),
    { numRuns: tries(150) },
  );
});

it("any chunks, at any times, arrive from a readable whole, in order and once", async () => {
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 20_000 }), async (all, highWaterMark) => {
      const readable = Readable.from(withPauses(all), { objectMode: false, highWaterMark });
      const read: Uint8Array[] = [];
      for await (const bytes of fromNodeReadable(readable)) read.push(bytes);
      assert.deepEqual(joined(read), joined(all.map(([, one]) => one)));
    }),
    { numRuns: tries(150) },
  );
});
