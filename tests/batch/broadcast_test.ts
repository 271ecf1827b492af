import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { broadcast, type BroadcastOptions, SlowBranchError } from "../../lib/batch/mod.ts";
import { fromNative, ReadableStream as Ours } from "../../lib/streams/mod.ts";

const classes: Readonly<Record<string, typeof globalThis.ReadableStream>> = {
  ours: Ours as unknown as typeof globalThis.ReadableStream,
  native: globalThis.ReadableStream,
};

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const chunks: T[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** A source of numbers that counts its chunks, and records the reason of its cancelation. */
class Numbers {
  made = 0;
  reasons: unknown[] = [];
  readonly stream: globalThis.ReadableStream<number>;

  constructor(ReadableStream: typeof globalThis.ReadableStream, count = Infinity) {
    this.stream = new ReadableStream<number>({
      pull: async (controller) => {
        await undefined;
        if (this.made === count) controller.close();
        else controller.enqueue(this.made++);
      },
      cancel: (reason) => void this.reasons.push(reason),
    }, { highWaterMark: 0 });
  }
}

for (const [name, ReadableStream] of Object.entries(classes)) {
  describe(`broadcast() of ${name}`, () => {
    it("gives every chunk to every branch, and closes them", async () => {
      const source = new Numbers(ReadableStream, 100);
      const branches = broadcast(source.stream, { branches: 3 });
      assert.equal(source.stream.locked, true);
      for (const branch of branches) assert.ok(branch instanceof Ours);
      const got = await Promise.all(branches.map(all));
      assert.deepEqual(got, [numbers(100), numbers(100), numbers(100)]);
    });

    it("gives a chunk that was buffered though taking it has the source err at once", async () => {
      const error = new Error("at the end");
      let pulls = 0;
      const source = new ReadableStream<number>({
        pull(controller) {
          controller.enqueue(++pulls);
          if (pulls === 2) controller.error(error);
        },
      });
      await turn(); // one is buffered
      const readers = broadcast(source, { highWaterMark: 0 }).map((branch) => branch.getReader());
      for (const read of readers.map((reader) => reader.read())) assert.equal((await read).value, 1);
      for (const reader of readers) await assert.rejects(reader.read(), error);
    });

    it("reads nothing before a branch has room", async () => {
      const source = new Numbers(ReadableStream);
      broadcast(source.stream, { highWaterMark: 0 });
      await turns(5);
      assert.equal(source.made, 0);
    });

    it("waits for the slowest branch, which queues no more than the mark", async () => {
      const source = new Numbers(ReadableStream);
      const [fast, slow] = broadcast(source.stream, { highWaterMark: 5 });
      const reader = fast.getReader();
      for (const number of numbers(5)) assert.equal((await reader.read()).value, number);
      const sixth = reader.read();
      await turns(10);
      assert.equal(source.made, 5);
      const slowReader = slow.getReader();
      assert.equal((await slowReader.read()).value, 0);
      assert.equal((await sixth).value, 5);
      await Promise.all([reader.cancel(), slowReader.cancel()]);
    });

    it("lets the others go on when the slowest branch is canceled", async () => {
      const source = new Numbers(ReadableStream, 50);
      const [fast, slow] = broadcast(source.stream, { highWaterMark: 5 });
      const got = all(fast);
      await turns(5);
      await slow.cancel("bored");
      assert.deepEqual(await got, numbers(50));
      assert.deepEqual(source.reasons, []);
    });

    it("cancels the source with all reasons when the last branch is canceled", async () => {
      const source = new Numbers(ReadableStream);
      const [one, two, three] = broadcast(source.stream, { branches: 3 });
      await two.cancel("second");
      await one.cancel("first");
      assert.deepEqual(source.reasons, []);
      await three.cancel("third");
      assert.deepEqual(source.reasons, [["first", "second", "third"]]);
    });

    it("rejects the last branch's cancel() with what the source's throws, and no other", async () => {
      const fault = new Error("stuck");
      const stream = new ReadableStream({ cancel: () => Promise.reject(fault) });
      const [one, two] = broadcast(stream);
      await one.cancel();
      await assert.rejects(two.cancel(), fault);
    });

    for (const policy of ["wait", "drop", "error"] as const) {
      it(`errors every branch with the source's error (${policy})`, async () => {
        const fault = new Error("torn");
        const stream = new ReadableStream<number>({
          async pull(controller) {
            await turn();
            controller.error(fault);
          },
        });
        for (const branch of broadcast(stream, { branches: 3, policy })) {
          await assert.rejects(branch.getReader().read(), fault);
        }
      });

      it(`makes branches of a stream that has ended or failed (${policy})`, async () => {
        const fault = new Error("torn");
        for (const branch of broadcast(new ReadableStream({ start: (c) => c.close() }), { policy })) {
          assert.deepEqual(await all(branch), []);
        }
        for (const branch of broadcast(new ReadableStream({ start: (c) => c.error(fault) }), { policy })) {
          await assert.rejects(all(branch), fault);
        }
      });
    }

    it("drops the oldest chunks of a slow branch, and tells how many", async () => {
      const told: [number, number][] = [];
      const source = new Numbers(ReadableStream, 100);
      const [fast, slow] = broadcast(source.stream, {
        policy: "drop",
        highWaterMark: 10,
        onDrop: (branch, dropped) => told.push([branch, dropped]),
      });
      assert.deepEqual(await all(fast), numbers(100));
      assert.deepEqual(await all(slow), numbers(100).slice(90));
      assert.deepEqual(told, numbers(90).map((i) => [1, i + 1]));
    });

    it("waits with the fastest branch, whatever the policy is", async () => {
      for (const policy of ["drop", "error"] as const) {
        const source = new Numbers(ReadableStream);
        const branches = broadcast(source.stream, { policy, highWaterMark: 7 });
        await turns(20);
        assert.ok(source.made <= 7, `${source.made} chunks`);
        await Promise.all(branches.map((branch) => branch.cancel()));
      }
    });

    it("gives a branch that queues nothing only what it waits for", async () => {
      const source = new Numbers(ReadableStream, 20);
      const [one, two] = broadcast(source.stream, { policy: "drop", highWaterMark: 0 });
      const reader = two.getReader();
      const first = reader.read();
      assert.deepEqual(await all(one), numbers(20));
      assert.equal((await first).value, 0);
      assert.equal((await reader.read()).done, true);
    });

    it("errors a slow branch with a SlowBranchError, and leaves the others alone", async () => {
      const source = new Numbers(ReadableStream, 50);
      const [one, slow, two] = broadcast(source.stream, { branches: 3, policy: "error", highWaterMark: 4 });
      const got = await Promise.all([all(one), all(two)]);
      assert.deepEqual(got, [numbers(50), numbers(50)]);
      await assert.rejects(slow.getReader().read(), (error) => {
        assert.ok(error instanceof SlowBranchError);
        assert.equal(error.name, "SlowBranchError");
        assert.deepEqual([error.branch, error.highWaterMark], [1, 4]);
        return true;
      });
      assert.deepEqual(source.reasons, []);
    });

    it("counts a branch that failed among those that have left", async () => {
      const source = new Numbers(ReadableStream);
      const [one, slow] = broadcast(source.stream, { policy: "error", highWaterMark: 2 });
      const reader = one.getReader();
      for (let i = 0; i < 5; i++) await reader.read();
      await reader.cancel("enough");
      const [[first, second]] = source.reasons as [[unknown, unknown]];
      assert.equal(first, "enough");
      assert.ok(second instanceof SlowBranchError);
      await assert.rejects(slow.getReader().closed, SlowBranchError);
    });

    it("gives each branch of a byte stream its own bytes, and BYOB readers their views", async () => {
      const stream = new ReadableStream<Uint8Array>({
        type: "bytes",
        start(controller: ReadableByteStreamController) {
          for (let i = 1; i <= 4; i++) controller.enqueue(new Uint8Array(100).fill(i));
          controller.close();
        },
      } as never);
      const [one, two] = broadcast(stream, { highWaterMark: 250 });
      const first = (async () => {
        const chunks = await all(one);
        for (const chunk of chunks) chunk.fill(0);
        return chunks.reduce((sum, { length }) => sum + length, 0);
      })();
      const reader = two.getReader({ mode: "byob" });
      const seen: number[] = [];
      let view = new Uint8Array(64);
      while (true) {
        const step = await reader.read(view);
        if (step.done) break;
        seen.push(...step.value);
        view = new Uint8Array(step.value.buffer);
      }
      assert.equal(await first, 400);
      assert.deepEqual(seen, numbers(400).map((i) => 1 + Math.trunc(i / 100)));
    });

    it('counts bytes with type: "bytes", whatever the source is, and leaves it its chunks', async () => {
      const chunks = numbers(50).map((i) => new Uint8Array(1000).fill(i));
      let made = 0;
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await turn();
          if (made === chunks.length) return controller.close();
          controller.enqueue(new Uint8Array()); // which a byte stream cannot hold
          controller.enqueue(chunks[made++]);
        },
      }, { highWaterMark: 0 });
      const branches = broadcast(stream, { type: "bytes", highWaterMark: 10_000, replay: 1_000_000 });
      const [one, two] = branches;
      const reader = one.getReader({ mode: "byob" });
      assert.equal((await reader.read(new Uint8Array(1500), { min: 1500 })).value!.length, 1500);
      await turns(30);
      assert.ok(made <= 12, `${made} kilobytes`);
      reader.releaseLock();
      const late = branches.addBranch(1999);
      const [rest, whole, again] = await Promise.all(
        [one, two, late].map(async (branch) => new Blob(await all(branch) as Uint8Array<ArrayBuffer>[]).bytes()),
      );
      const expected = numbers(50_000).map((i) => Math.trunc(i / 1000));
      assert.deepEqual([...rest], expected.slice(1500));
      assert.deepEqual([...whole], expected);
      assert.deepEqual([...again], expected.slice(1999));
      assert.deepEqual(chunks.map(({ length }) => length), chunks.map(() => 1000));
    });

    it('fails with type: "bytes" at a chunk that is none, and cancels the source', async () => {
      const source = new Numbers(ReadableStream);
      const branches = broadcast(source.stream, { type: "bytes" });
      const error = { name: "TypeError", message: /with type: "bytes", a chunk must be a Uint8Array/ };
      for (const branch of branches) await assert.rejects(branch.getReader().read(), error);
      assert.equal(source.reasons.length, 1);
    });

    it("counts the bytes of a byte stream", async () => {
      let made = 0;
      const stream = new ReadableStream<Uint8Array>({
        type: "bytes",
        async pull(controller: ReadableByteStreamController) {
          await turn();
          made++;
          controller.enqueue(new Uint8Array(1000));
        },
      } as never);
      const [one, two] = broadcast(stream, { highWaterMark: 10_000 });
      const reader = one.getReader();
      for (let i = 0; i < 10; i++) await reader.read();
      const more = reader.read();
      await turns(10);
      assert.ok(made <= 11, `${made} kilobytes`);
      await two.cancel();
      await more;
      await reader.cancel();
    });
  });
}

describe("broadcast()", () => {
  it("counts with size(), once for each chunk", async () => {
    const sized: string[] = [];
    const stream = Ours.from(["aa", "bbbb", "cc", "d", "eeeeee"]);
    const branches = broadcast(stream, {
      highWaterMark: 5,
      size(chunk) {
        sized.push(chunk);
        return chunk.length;
      },
    });
    const [got] = await Promise.all(branches.map(all));
    assert.deepEqual(got, ["aa", "bbbb", "cc", "d", "eeeeee"]);
    assert.deepEqual(sized, got);
  });

  for (
    const [what, options] of Object.entries<BroadcastOptions<number>>({
      "size() throws": {
        size() {
          throw new Error("no scales");
        },
      },
      "size() is no size": { size: () => -1 },
      "onDrop() throws": {
        policy: "drop",
        highWaterMark: 1,
        onDrop() {
          throw new Error("no bin");
        },
      },
    })
  ) {
    it(`errors all branches and cancels the source when ${what}`, async () => {
      const source = new Numbers(classes.ours);
      const [one, two] = broadcast(source.stream, options);
      const error = await all(one).catch((error) => error);
      assert.ok(error instanceof Error);
      await assert.rejects(all(two), (other) => other === error);
      assert.deepEqual(source.reasons, [error]);
    });
  }

  it("holds a bounded part of a long stream, however slow a branch is", async () => {
    for (const policy of ["wait", "drop", "error"] as const) {
      const chunks = 20_000;
      let made = 0;
      const got = [0, 0];
      const dropped = [0, 0];
      const source = new Ours<number>({
        pull(controller) {
          controller.enqueue(made++);
          if (made === chunks) controller.close();
          const held = got.map((count, i) => made - count - dropped[i]);
          if (policy !== "error") assert.ok(Math.max(...held) <= 32 + 4, `${held} chunks`); // those on their way
        },
      });
      const [fast, slow] = broadcast(source, {
        policy,
        highWaterMark: 32,
        ...policy === "drop" && { onDrop: (branch: number, count: number) => void (dropped[branch] = count) },
      });
      const counting = (async () => {
        for await (const _ of fast) got[0]++;
      })();
      if (policy === "error") {
        await counting;
        await assert.rejects(all(slow), SlowBranchError);
        assert.equal(got[0], chunks);
        continue;
      }
      for await (const _ of slow) {
        if (++got[1] % 500 === 0) await turn();
      }
      await counting;
      assert.deepEqual(got.map((count, i) => count + dropped[i]), [chunks, chunks]);
      if (policy === "drop") assert.ok(dropped[1] > 0);
    }
  });

  it("says what is wrong with its arguments", () => {
    const stream = new Ours();
    assert.throws(() => broadcast({} as never), { name: "TypeError", message: /must be a ReadableStream/ });
    for (const branches of [0, -1, 1.5, NaN, Infinity]) {
      assert.throws(() => broadcast(stream, { branches }), { name: "RangeError", message: /branches/ });
    }
    for (const highWaterMark of [-1, NaN]) {
      assert.throws(() => broadcast(stream, { highWaterMark }), { name: "RangeError", message: /highWaterMark/ });
    }
    assert.throws(() => broadcast(stream, { policy: "block" as never }), {
      name: "TypeError",
      message: 'policy must be "wait", "drop" or "error", not "block"',
    });
    assert.equal(stream.locked, false);
    broadcast(stream);
    assert.throws(() => broadcast(stream), { name: "TypeError", message: /locked/ });
  });
});

describe("broadcast() of a native stream of bytes", () => {
  const reasons: unknown[] = [];
  const bytes = (): globalThis.ReadableStream<Uint8Array> =>
    new globalThis.ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      cancel: (reason) => void reasons.push(reason),
    });

  for (const limit of [{ highWaterMark: 1_048_576 }, { replay: 5_000_000 }]) {
    it(`takes no ${Object.keys(limit)} without a unit, as runtimes have different ones`, async () => {
      for (const stream of [bytes(), fromNative(bytes())]) {
        reasons.length = 0;
        const [one, two] = broadcast(stream, limit);
        const error = { name: "TypeError", message: /add type: "bytes" or size/ };
        for (const branch of [one, two]) await assert.rejects(branch.getReader().read(), error);
        assert.equal(reasons.length, 1);
      }
      const [branch] = broadcast(bytes(), { ...limit, size: () => 1 });
      assert.equal((await branch.getReader().read()).value?.length, 10);
    });
  }

  it("counts the bytes of bodies", async () => {
    const bodies = [new Blob(["x".repeat(300_000)]).stream(), new Response("x".repeat(300_000)).body!];
    for (const body of bodies) {
      const branches = broadcast(body, { type: "bytes", highWaterMark: 100_000, replay: 1_000_000 });
      const lengths = await Promise.all(branches.map(async (branch) => (await new Response(branch).text()).length));
      assert.deepEqual(lengths, [300_000, 300_000]);
      assert.equal((await new Response(branches.addBranch(299_990)).text()).length, 10);
    }
  });
});
