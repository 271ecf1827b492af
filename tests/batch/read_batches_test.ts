import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { readBatches } from "../../lib/batch/mod.ts";
import { ReadableStream as Ours } from "../../lib/streams/mod.ts";

const Native = globalThis.ReadableStream;
const classes: Readonly<Record<string, typeof globalThis.ReadableStream>> = {
  ours: Ours as unknown as typeof globalThis.ReadableStream,
  native: Native,
};

async function batchesOf<T>(batches: AsyncIterable<T[]>): Promise<T[][]> {
  const all: T[][] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Returns a stream whose queue holds the numbers below `count`. */
function queued(ReadableStream: typeof globalThis.ReadableStream, count: number): globalThis.ReadableStream<number> {
  return new ReadableStream({
    start(controller) {
      for (const number of numbers(count)) controller.enqueue(number);
      controller.close();
    },
  }, { highWaterMark: count });
}

type Pull = () => IteratorResult<number, undefined>;

/**
 * Reads a stream of the numbers below 7 whose source ends the iteration at a pull after `at`, and then the rest of the
 * stream. Every call is answered, and no number is lost.
 */
async function endInSource(
  end: string,
  at: number,
  make: (pull: Pull) => globalThis.ReadableStream<number>,
): Promise<void> {
  const abort = new AbortController();
  const calls: Promise<IteratorResult<number[], unknown>>[] = [];
  let made = 0;
  let batches = undefined as AsyncIterator<number[], unknown> | undefined;
  const stream = make(() => {
    if (made === at && batches !== undefined) {
      calls.push(batches.next());
      if (end === "an abort") abort.abort("enough");
      else calls.push(batches.return!());
    }
    return made === 7 ? { done: true, value: undefined } : { done: false, value: made++ };
  });
  await turn();
  batches = readBatches(stream, { preventCancel: true, signal: abort.signal });
  while (stream.locked) await (calls[calls.push(undefined as never) - 1] = batches.next()).catch(() => {});
  const all: number[] = [];
  for (const call of await Promise.allSettled(calls)) {
    if (call.status === "fulfilled") all.push(...(call.value.value as number[] | undefined ?? []));
    else assert.equal(call.reason, "enough");
  }
  for await (const chunk of stream) all.push(chunk);
  assert.deepEqual(all, numbers(7), `at ${at}`);
}

for (const [name, ReadableStream] of Object.entries(classes)) {
  describe(`readBatches() of ${name}`, () => {
    it("gives all that is queued in one array", async () => {
      assert.deepEqual(await batchesOf(readBatches(queued(ReadableStream, 100))), [numbers(100)]);
    });

    it("ends at once with an empty stream, and unlocks it", async () => {
      const stream = queued(ReadableStream, 0);
      const batches = readBatches(stream);
      assert.equal(stream.locked, true);
      assert.deepEqual(await batches.next(), { done: true, value: undefined });
      assert.equal(stream.locked, false);
      assert.deepEqual(await batches.next(), { done: true, value: undefined });
    });

    it("keeps a batch to maxChunks", async () => {
      const batches = await batchesOf(readBatches(queued(ReadableStream, 25), { maxChunks: 10 }));
      assert.deepEqual(batches.map(({ length }) => length), [10, 10, 5]);
      assert.deepEqual(batches.flat(), numbers(25));
    });

    it("ends a batch with the chunk that brings it to maxBytes", async () => {
      const lengths = [10, 10, 10, 500, 1, 99, 7];
      const stream = new ReadableStream<Uint8Array | string>({
        start(controller) {
          for (const [i, length] of lengths.entries()) {
            controller.enqueue(i % 2 === 0 ? new Uint8Array(length) : "x".repeat(length));
          }
          controller.close();
        },
      }, { highWaterMark: 10 });
      const batches = await batchesOf(readBatches(stream, { maxBytes: 100 }));
      assert.deepEqual(batches.map((batch) => batch.map(({ length }) => length)), [[10, 10, 10, 500], [1, 99], [7]]);
    });

    it("gives what a source enqueues in one call, however late, in one array", async () => {
      let left = 3;
      const stream = new ReadableStream<number>({
        async pull(controller) {
          await turn();
          for (const number of numbers(5)) controller.enqueue(number);
          if (--left === 0) controller.close();
        },
      }, { highWaterMark: 0 });
      assert.deepEqual(await batchesOf(readBatches(stream)), [numbers(5), numbers(5), numbers(5)]);
    });

    it("makes batches of chunks that come microtask by microtask", async () => {
      let made = 0;
      const stream = new ReadableStream<number>({
        async pull(controller) {
          await undefined;
          controller.enqueue(made++);
          if (made === 500) controller.close();
        },
      });
      const batches = await batchesOf(readBatches(stream));
      assert.deepEqual(batches.flat(), numbers(500));
      assert.ok(batches.length < 20, `${batches.length} batches`);
    });

    it("rejects with the source's error after the chunks that were read before it", async () => {
      const fault = new Error("torn");
      let pulls = 0;
      const stream = new ReadableStream<number>({
        async pull(controller) {
          await turn();
          if (++pulls === 3) controller.error(fault);
          else controller.enqueue(pulls);
        },
      }, { highWaterMark: 0 });
      const batches = readBatches(stream);
      assert.deepEqual(await batches.next(), { done: false, value: [1] });
      assert.deepEqual(await batches.next(), { done: false, value: [2] });
      await assert.rejects(batches.next(), fault);
      assert.deepEqual(await batches.next(), { done: true, value: undefined });
      assert.equal(stream.locked, false);
    });

    it("cancels the stream when the loop is left", async () => {
      const reasons: unknown[] = [];
      const stream = new ReadableStream<number>({
        pull: (controller) => controller.enqueue(1),
        cancel: (reason) => void reasons.push(reason),
      });
      for await (const _ of readBatches(stream)) break;
      assert.deepEqual(reasons, [undefined]);
      assert.equal(stream.locked, false);
    });

    it("rejects return() with what the source's cancel() throws", async () => {
      const fault = new Error("stuck");
      const stream = new ReadableStream({
        cancel() {
          throw fault;
        },
      });
      await assert.rejects(readBatches(stream).return!(), fault);
      assert.equal(stream.locked, false);
    });

    it("leaves the stream to others with preventCancel, and no chunk is lost", async () => {
      let made = 0;
      const stream = new ReadableStream<number>({
        async pull(controller) {
          if (made % 3 === 0) await turn();
          controller.enqueue(made++);
          if (made === 40) controller.close();
        },
      }, { highWaterMark: 5 });
      const all: number[] = [];
      for (let i = 0; i < 3; i++) {
        for await (const batch of readBatches(stream, { preventCancel: true, maxChunks: 4 })) {
          all.push(...batch);
          await turn();
          break;
        }
      }
      for await (const chunk of stream) all.push(chunk);
      assert.deepEqual(all, numbers(40));
    });

    for (const end of ["return()", "an abort"]) {
      it(`loses no chunk with preventCancel where ${end} comes as it does`, async () => {
        let controller!: ReadableStreamDefaultController<number>;
        const stream = new ReadableStream<number>({ start: (given) => void (controller = given) });
        const abort = new AbortController();
        const batches = readBatches(stream, { preventCancel: true, signal: abort.signal });
        const calls = [batches.next(), batches.next(), batches.next()];
        await turn();
        for (const chunk of [0, 1]) controller.enqueue(chunk);
        controller.close();
        const ended = end === "an abort" ? abort.abort("enough") : batches.return!();
        const [first, ...others] = await Promise.allSettled(calls);
        await ended;
        const rest = await Array.fromAsync(stream as AsyncIterable<number>);
        assert.deepEqual([...(first as PromiseFulfilledResult<{ value: number[] }>).value.value, ...rest], [0, 1]);
        const done = { status: "fulfilled", value: { done: true, value: undefined } };
        assert.deepEqual(others, [end === "an abort" ? { status: "rejected", reason: "enough" } : done, done]);
      });

      for (const highWaterMark of [0, 1, 3]) {
        it(`loses no chunk with preventCancel where ${end} comes in the source's pull(), mark ${highWaterMark}`, async () => {
          for (let at = 0; at < 14; at++) {
            await endInSource(end, at % 7, (next) => {
              const pull = (controller: ReadableStreamDefaultController<number>): void => {
                const { done, value } = next();
                if (done) controller.close();
                else controller.enqueue(value);
              };
              return new ReadableStream({
                pull: at < 7 ? pull : (controller) => Promise.resolve(pull(controller)),
              }, { highWaterMark });
            });
          }
        });
      }
    }

    it("ends a next() that waits when it is returned", async () => {
      let canceled = false;
      const stream = new ReadableStream({ cancel: () => void (canceled = true) });
      const batches = readBatches(stream);
      const next = batches.next();
      await turn();
      await batches.return!();
      assert.deepEqual(await next, { done: true, value: undefined });
      assert.ok(canceled);
    });

    it("serves calls of next() in their order", async () => {
      let controller!: ReadableStreamDefaultController<number>;
      const stream = new ReadableStream<number>({ start: (given) => void (controller = given) });
      const batches = readBatches(stream);
      const results = [batches.next(), batches.next(), batches.next()];
      await turn();
      controller.enqueue(1);
      await turn();
      controller.enqueue(2);
      await turn();
      controller.close();
      assert.deepEqual(await Promise.all(results), [
        { done: false, value: [1] },
        { done: false, value: [2] },
        { done: true, value: undefined },
      ]);
    });

    it("rejects a next() that waits with the signal's reason, and cancels the stream with it", async () => {
      const reasons: unknown[] = [];
      const stream = new ReadableStream({ cancel: (reason) => void reasons.push(reason) });
      const abort = new AbortController();
      const batches = readBatches(stream, { signal: abort.signal });
      const next = batches.next();
      await turn();
      const reason = new Error("enough");
      abort.abort(reason);
      await assert.rejects(next, reason);
      assert.deepEqual(await batches.next(), { done: true, value: undefined });
      await turn();
      assert.deepEqual(reasons, [reason]);
      assert.equal(stream.locked, false);
    });

    it("rejects the next step when the signal is aborted between two, or was before", async () => {
      const abort = new AbortController();
      const batches = readBatches(queued(ReadableStream, 3), { signal: abort.signal, maxChunks: 1 });
      await batches.next();
      abort.abort("enough");
      await assert.rejects(batches.next(), (error) => error === "enough");
      const stream = queued(ReadableStream, 3);
      await assert.rejects(readBatches(stream, { signal: abort.signal }).next(), (error) => error === "enough");
      assert.equal(stream.locked, false);
    });

    it("asks the source for no more than its mark and a chunk while a batch is looked at", async () => {
      let made = 0;
      const stream = new ReadableStream<number>({
        async pull(controller) {
          await turn();
          controller.enqueue(made++);
        },
      }, { highWaterMark: 4 });
      let taken = 0;
      for await (const batch of readBatches(stream)) {
        taken += batch.length;
        for (let i = 0; i < 12; i++) await turn();
        assert.ok(made - taken <= 5, `${made} made, ${taken} taken`);
        if (taken > 30) break;
      }
    });

    it("reads byte streams", async () => {
      let left = 10;
      const stream = new ReadableStream({
        type: "bytes",
        pull(controller) {
          controller.enqueue(new Uint8Array(8).fill(left));
          if (--left === 0) controller.close();
        },
      }, { highWaterMark: 1024 });
      const batches = await batchesOf(readBatches(stream));
      assert.deepEqual(batches.flat().map(([first]) => first), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    });

    it("reads byte streams that allocate buffers, and leaves the rest", async () => {
      let made = 0;
      const stream = new ReadableStream({
        type: "bytes",
        autoAllocateChunkSize: 16,
        async pull(controller) {
          await turn();
          const { byobRequest } = controller;
          if (byobRequest) {
            byobRequest.view![0 as never] = ++made as never;
            byobRequest.respond(1);
          } else {
            controller.enqueue(new Uint8Array([++made]));
          }
        },
      });
      const all: number[] = [];
      for (let i = 0; i < 3; i++) {
        for await (const batch of readBatches(stream, { preventCancel: true })) {
          all.push(...batch.map(([byte]) => byte));
          for (let i = 0; i < 3; i++) await turn();
          break;
        }
      }
      const reader = stream.getReader();
      for (let i = 0; i < 3; i++) all.push(...(await reader.read()).value!);
      assert.deepEqual(all, numbers(all.length).map((i) => i + 1));
      await reader.cancel();
    });

    it("refuses what is locked, and unlocked streams can be read once it has ended", () => {
      const stream = queued(ReadableStream, 1);
      readBatches(stream);
      assert.throws(() => readBatches(stream), { name: "TypeError", message: /locked/ });
    });
  });
}

describe("readBatches()", () => {
  it("takes what an iterable has, up to its limits", async () => {
    const taken: number[] = [];
    function* source(): Generator<number> {
      for (let i = 0; i < 100; i++) {
        taken.push(i);
        yield i;
      }
    }
    const batches = readBatches(Ours.from(source()), { maxChunks: 30 });
    assert.deepEqual((await batches.next()).value, numbers(30));
    assert.equal(taken.length, 30);
    assert.deepEqual((await batchesOf(batches)).flat(), numbers(100).slice(30));
  });

  it("gives the error of an iterable after its items", async () => {
    const fault = new Error("spent");
    const batches = readBatches(Ours.from((function* () {
      yield 1;
      yield 2;
      throw fault;
    })()));
    assert.deepEqual(await batches.next(), { done: false, value: [1, 2] });
    await assert.rejects(batches.next(), fault);
  });

  for (const end of ["return()", "an abort"]) {
    it(`loses no item of an iterable with preventCancel where ${end} comes as it is asked for one`, async () => {
      for (let at = 0; at < 7; at++) {
        await endInSource(end, at, (next) => {
          return Ours.from({ [Symbol.iterator]: () => ({ next }) } as unknown as Iterable<number>);
        });
      }
    });
  }

  it("is not confused by a source that calls it back", async () => {
    let made = 0;
    const calls: Promise<IteratorResult<number[], unknown>>[] = [];
    const call = (): void => {
      const at = calls.push(undefined as never) - 1; // a call may make another one before it returns
      calls[at] = batches.next();
    };
    const stream = new Ours<number>({
      pull(controller) {
        if (made % 10 === 5) call();
        controller.enqueue(made++);
        if (made === 50) controller.close();
      },
    }, { highWaterMark: 4 });
    const batches = readBatches(stream, { maxChunks: 7 });
    await turn();
    for (let i = 0; i < 10; i++) {
      call();
      await calls.at(-1);
    }
    const results = await Promise.all(calls);
    assert.deepEqual(results.flatMap(({ value }) => value as number[] ?? []), numbers(50));
  });

  it("says what is wrong with its arguments", () => {
    const stream = new Ours();
    assert.throws(() => readBatches({} as never), { name: "TypeError", message: /must be a ReadableStream/ });
    for (const maxChunks of [0, -1, 1.5, NaN]) {
      assert.throws(() => readBatches(stream, { maxChunks }), { name: "RangeError", message: /maxChunks/ });
    }
    for (const maxBytes of [0, -1, NaN]) {
      assert.throws(() => readBatches(stream, { maxBytes }), { name: "RangeError", message: /maxBytes/ });
    }
    assert.equal(stream.locked, false);
  });
});
