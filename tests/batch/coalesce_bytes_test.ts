import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { BatchedWritableStream, coalesceBytes } from "../../lib/batch/mod.ts";
import { ReadableStream, toNative, WritableStream } from "../../lib/streams/mod.ts";
import { microtasks, Outcomes, statusOf, turn } from "./progress.ts";
import { tries } from "../support/long_run.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns chunks whose bytes show their position: each byte is one more than the last. */
function chunksOf(...sizes: number[]): Bytes[] {
  let next = 0;
  return sizes.map((size) => Uint8Array.from({ length: size }, () => next++));
}

function joined(chunks: readonly Uint8Array[]): number[] {
  return chunks.flatMap((chunk) => [...chunk]);
}

async function collect(stream: globalThis.ReadableStream<Bytes>): Promise<Bytes[]> {
  const chunks: Bytes[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** Returns the output for chunks that are all available at the start. */
async function coalesced(chunks: readonly Bytes[], size?: number): Promise<Bytes[]> {
  return await collect(ReadableStream.from(chunks).pipeThrough<Bytes>(coalesceBytes({ size })));
}

async function sizesOf(size: number, ...sizes: number[]): Promise<number[]> {
  return (await coalesced(chunksOf(...sizes), size)).map(({ length }) => length);
}

it("coalesceBytes() joins small chunks until they have the size or more", async () => {
  assert.deepEqual(await sizesOf(10, 4, 4, 4, 4, 4), [12, 8]);
  assert.deepEqual(await sizesOf(10, 5, 5, 5, 5), [10, 10]);
  assert.deepEqual(await sizesOf(10, 9, 9, 9), [18, 9]);
  assert.deepEqual(await sizesOf(1, 1, 1, 1), [1, 1, 1]);
});

it("coalesceBytes() joins no more than it has to, however much waits", async () => {
  const { readable, writable } = coalesceBytes({ size: 10 });
  const writer = writable.getWriter();
  for (const chunk of chunksOf(5, 5, 5, 5, 9, 9, 1)) void writer.write(chunk); // all at once: one batch
  void writer.close();
  assert.deepEqual((await collect(readable as globalThis.ReadableStream<Bytes>)).map(({ length }) => length), [
    10,
    10,
    18,
    1,
  ]);
});

it("coalesceBytes() gives a large chunk alone, after the small ones before it", async () => {
  assert.deepEqual(await sizesOf(10, 10, 11, 12), [10, 11, 12]);
  assert.deepEqual(await sizesOf(10, 3, 10, 3, 3), [3, 10, 6]);
});

it("coalesceBytes() passes a large chunk on without copying it", async () => {
  const large = new Uint8Array(100).subarray(20, 80);
  const [out] = await coalesced([large], 60);
  assert.equal(out, large);
});

it("coalesceBytes() drops nothing but chunks that are empty, and ends as its source does", async () => {
  assert.deepEqual(await coalesced([]), []);
  assert.deepEqual(await sizesOf(10, 0, 0), []);
  assert.deepEqual(joined(await coalesced(chunksOf(0, 1, 0, 2, 0), 10)), [0, 1, 2]);
});

it("coalesceBytes() takes views of all kinds of Uint8Array, each with its own part of a buffer", async () => {
  const buffer = Uint8Array.from([1, 2, 3, 4, 5, 6]);
  class Mine extends Uint8Array {}
  const chunks: Bytes[] = [buffer.subarray(1, 3), new Mine([7, 8]) as Bytes, buffer.subarray(5)];
  assert.deepEqual(joined(await coalesced(chunks, 100)), [2, 3, 7, 8, 6]);
});

it("coalesceBytes() joins up to 64 KiB unless told", async () => {
  const sizes = (await coalesced(new Array(200).fill(new Uint8Array(1000)))).map(({ length }) => length);
  assert.deepEqual(sizes, [66_000, 66_000, 66_000, 2000]);
});

it("coalesceBytes() refuses a size that is none", () => {
  for (const size of [0, -1, 1.5, NaN, Infinity]) {
    assert.throws(() => coalesceBytes({ size }), {
      name: "RangeError",
      message: `size ${size} is out of range: use a whole number from 1`,
    });
  }
  assert.throws(() => coalesceBytes(null as never), TypeError);
});

for (
  const chunk of [
    "text",
    5,
    null,
    undefined,
    {},
  ]
) {
  const what = chunk?.constructor.name ?? String(chunk);
  it(`a chunk that is a ${what} errors both ends of coalesceBytes(), and whoever writes to it`, async () => {
    for (const before of [0, 1, 50]) {
      const { readable, writable } = coalesceBytes({ size: 10 });
      const writer = (writable as WritableStream<unknown>).getWriter();
      const outcomes = new Outcomes();
      for (let count = 0; count < before; count++) writer.write(new Uint8Array(3)).catch(() => {});
      outcomes.watch("bad", writer.write(chunk));
      outcomes.watch("after", writer.write(new Uint8Array(3)));
      outcomes.watch("closed", writer.closed);
      await assert.rejects(collect(readable), TypeError);
      await turn();
      for (const name of ["bad", "after", "closed"]) {
        assert.match(outcomes.of(name), /^rejected: TypeError: .*Uint8Array/);
      }
    }
  });

  it(`a chunk that is a ${what} ends a pipe through coalesceBytes(), and cancels its source`, async () => {
    let reason: unknown;
    let given = 0;
    const source = new ReadableStream<unknown>({
      pull(controller): void {
        controller.enqueue(chunk);
        given++;
        if (given === 10_000) controller.close();
      },
      cancel: (why) => void (reason = why),
    });
    await assert.rejects(collect(source.pipeThrough(coalesceBytes() as never)), TypeError);
    await turn();
    assert.ok(reason instanceof TypeError);
    assert.ok(given < 10, `${given} chunks`); // as many as are read before the first one is looked at
  });
}

it("coalesceBytes() passes on what arrives slowly as it arrives", async () => {
  const { readable, writable } = coalesceBytes({ size: 1000 });
  const writer = writable.getWriter();
  const reader = readable.getReader();
  for (const chunk of chunksOf(1, 2, 3)) {
    void writer.write(chunk);
    assert.deepEqual((await reader.read()).value, chunk);
  }
  const [one, other] = chunksOf(4, 5);
  void writer.write(one);
  void writer.write(other);
  assert.equal((await reader.read()).value!.length, 9);
  void writer.close();
  assert.equal((await reader.read()).done, true);
});

it("coalesceBytes() holds back while nobody reads, and close() waits for what is held back", async () => {
  const { readable, writable } = coalesceBytes({ size: 10 });
  const writer = writable.getWriter();
  const outcomes = new Outcomes();
  for (const name of ["1", "2", "3"]) {
    outcomes.watch(name, writer.write(new Uint8Array(10)));
    await turn();
  }
  assert.deepEqual(outcomes.all, { fulfilled: "1", pending: "2 3" }); // the first one is in the readable end's queue
  assert.equal(writer.desiredSize, -10);
  assert.equal(await statusOf(writer.ready), "pending");
  outcomes.watch("close", writer.close());
  await turn();
  assert.equal(outcomes.of("close"), "pending");
  assert.equal((await collect(readable)).length, 3);
  await microtasks();
  assert.deepEqual(outcomes.all, { fulfilled: "1 2 3 close" });
});

it("a pipe through coalesceBytes() reads no more of its source than fits", async () => {
  let bytes = 0;
  const source = new ReadableStream<Bytes>({
    pull(controller): void {
      bytes += 10;
      controller.enqueue(new Uint8Array(10));
    },
  }, { highWaterMark: 0 });
  const reader = source.pipeThrough(coalesceBytes({ size: 100 })).getReader();
  for (let turns = 0; turns < 10; turns++) await turn();
  assert.ok(bytes <= 400, `${bytes} bytes`);
  const before = bytes;
  await reader.read();
  for (let turns = 0; turns < 10; turns++) await turn();
  assert.ok(bytes > before && bytes <= 500, `${bytes} bytes`);
  await reader.cancel();
});

it("cancelling the readable end errors the writable one, whatever waits there", async () => {
  for (const writes of [0, 1, 3]) {
    const { readable, writable } = coalesceBytes({ size: 10 });
    const writer = writable.getWriter();
    const outcomes = new Outcomes();
    for (let write = 0; write < writes; write++) {
      outcomes.watch(["written", "held", "behind"][write], writer.write(new Uint8Array(10)));
      await turn();
    }
    outcomes.watch("waits", writer.write(new Uint8Array(1)));
    const reason = new Error("reason");
    await readable.cancel(reason);
    outcomes.watch("late", writer.write(new Uint8Array(1)));
    await turn();
    await assert.rejects(writer.closed, reason);
    const rejected = writes > 1 ? "held behind waits late" : "waits late";
    assert.deepEqual(outcomes.all, {
      ...(writes > 0 ? { fulfilled: "written" } : {}),
      "rejected: Error: reason": rejected,
    });
  }
});

it("cancelling after a pipe cancels its source with the same reason", async () => {
  let cancelled: unknown;
  const source = new ReadableStream<Bytes>({
    pull: (controller) => controller.enqueue(new Uint8Array(7)),
    cancel: (why) => void (cancelled = why),
  });
  const reason = new Error("reason");
  const reader = source.pipeThrough<Bytes>(coalesceBytes({ size: 20 })).getReader();
  assert.equal((await reader.read()).value!.length, 21);
  await reader.cancel(reason);
  await turn();
  assert.equal(cancelled, reason);
});

it("aborting the writable end errors the readable one, whatever waits there", async () => {
  for (const writes of [0, 1, 3]) {
    const { readable, writable } = coalesceBytes({ size: 10 });
    const writer = writable.getWriter();
    for (let write = 0; write < writes; write++) {
      writer.write(new Uint8Array(10)).catch(() => {});
      await turn();
    }
    const outcomes = new Outcomes();
    outcomes.watch("waits", writer.write(new Uint8Array(1)));
    const reason = new Error("reason");
    await writer.abort(reason);
    await turn();
    await assert.rejects(readable.getReader().read(), reason);
    assert.deepEqual(outcomes.all, { "rejected: Error: reason": "waits" });
  }
});

it("a read that waits is rejected by an abort, and ended by a close", async () => {
  const aborted = coalesceBytes();
  const read = aborted.readable.getReader().read();
  await turn();
  await aborted.writable.abort(new Error("reason"));
  await assert.rejects(read, new Error("reason"));
  const closed = coalesceBytes();
  const last = closed.readable.getReader().read();
  await closed.writable.close();
  assert.equal((await last).done, true);
});

it("a source that fails errors the readable end of coalesceBytes()", async () => {
  const source = new ReadableStream<Bytes>({
    start(controller): void {
      controller.enqueue(new Uint8Array(5));
      controller.error(new Error("source"));
    },
  });
  await assert.rejects(collect(source.pipeThrough<Bytes>(coalesceBytes())), new Error("source"));
});

it("random chunks, sizes, chains and paces: the same bytes, and no small chunk where more was there", async () => {
  const plans = fc.record({
    sizes: fc.array(fc.nat(40), { maxLength: 60 }),
    size: fc.integer({ min: 1, max: 60 }),
    chain: fc.integer({ min: 1, max: 3 }),
    waits: fc.boolean(),
    sinkWaits: fc.boolean(),
    native: fc.boolean(),
    batched: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(plans, async ({ sizes, size, chain, waits, sinkWaits, native, batched }) => {
      const chunks = chunksOf(...sizes);
      const source = async function* (): AsyncGenerator<Bytes> {
        for (const [index, chunk] of chunks.entries()) {
          if (waits && index % 5 === 0) await turn();
          yield chunk;
        }
      };
      let stream = ReadableStream.from(source()) as globalThis.ReadableStream<Bytes>;
      if (native) stream = toNative(stream);
      for (let left = chain; left > 0; left--) stream = stream.pipeThrough<Bytes>(coalesceBytes({ size }));
      const out: Bytes[] = [];
      const write = async (given: Bytes[]): Promise<void> => {
        out.push(...given);
        if (sinkWaits) await turn();
      };
      const sink = batched
        ? new BatchedWritableStream<Bytes>({ writev: write })
        : new WritableStream<Bytes>({ write: (chunk) => write([chunk]) });
      await stream.pipeTo(sink);
      assert.deepEqual(joined(out), joined(chunks));
      assert.ok(out.every(({ length }) => length > 0));
      const large = Math.max(0, ...sizes);
      assert.ok(out.every(({ length }) => length < Math.max(2 * size, large + 1)));
    }),
    { numRuns: tries(150) },
  );
});
