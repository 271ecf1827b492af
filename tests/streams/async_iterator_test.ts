import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";

type Source = UnderlyingDefaultSource<number>;

/** Sources of the numbers from 0 up to `count`, by how they come. */
const sources: Readonly<Record<string, (count: number) => Source>> = {
  queued: (count) => ({
    start(controller) {
      for (let i = 0; i < count; i++) controller.enqueue(i);
      controller.close();
    },
  }),
  pulled(count) {
    let next = 0;
    return {
      pull(controller) {
        if (next < count) controller.enqueue(next++);
        else controller.close();
      },
    };
  },
  "pulled by a promise"(count) {
    const { pull } = sources.pulled(count);
    return { pull: (controller) => Promise.resolve().then(() => pull!(controller)) };
  },
  pushed: (count) => ({
    async start(controller) {
      for (let i = 0; i < count; i++) {
        await undefined;
        controller.enqueue(i);
      }
      controller.close();
    },
  }),
};

for (const [name, source] of Object.entries(sources)) {
  it(`calls of next() that overlap are answered in order, each with a chunk of its own: ${name}`, async () => {
    await fc.assert(fc.asyncProperty(
      fc.nat(8),
      fc.nat(3),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }),
      async (count, highWaterMark, bursts) => {
        const iterator = new ReadableStream<number>(source(count), { highWaterMark }).values();
        const answers: (number | undefined)[] = [];
        let last: Promise<unknown> = Promise.resolve();
        let calls = 0;
        for (const burst of bursts) {
          for (let i = 0; i < burst; i++, calls++) last = iterator.next().then(({ value }) => answers.push(value));
          for (let turn = 0; turn < burst - 1; turn++) await undefined;
        }
        await last;
        assert.deepEqual(answers, Array.from({ length: calls }, (_, i) => i < count ? i : undefined));
      },
    ));
  });
}

it("return() ends an iteration after the calls before it, and next() tells the end after it", async () => {
  let canceled: unknown;
  const stream = new ReadableStream<number>({
    pull: sources.pulled(9).pull!,
    cancel: (reason) => void (canceled = reason),
  });
  const iterator = stream.values();
  const answers = [iterator.next(), iterator.next(), iterator.return!("enough" as never), iterator.next()];
  assert.equal(canceled, undefined);
  assert.deepEqual(await Promise.all(answers as Promise<unknown>[]), [
    { done: false, value: 0 },
    { done: false, value: 1 },
    { done: true, value: "enough" },
    { done: true, value: undefined },
  ]);
  assert.equal(canceled, "enough");
  assert.equal(stream.locked, false);
});

for (const [highWaterMark, queued] of [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2]]) {
  it(`next() can be called in pull(), for the call that pulls is answered first: mark ${highWaterMark}, ${queued} queued`, async () => {
    const answers: unknown[] = [];
    let next = 0;
    let isReading = false;
    const call = (): Promise<unknown> => iterator.next().then(({ value }) => answers.push(value));
    const iterator = new ReadableStream<number>({
      start(controller) {
        while (next < queued) controller.enqueue(next++);
      },
      pull(controller) {
        if (isReading) void call();
        isReading = false;
        controller.enqueue(next++);
      },
    }, { highWaterMark }).values();
    await new Promise((resolve) => setTimeout(resolve, 1));
    isReading = true;
    await call();
    await new Promise((resolve) => setTimeout(resolve, 1));
    assert.deepEqual(answers, isReading ? [0] : [0, 1]);
  });
}

it("a loop and other code get their turns between pulls that fill a queue", async () => {
  const events: string[] = [];
  let next = 0;
  const stream = new ReadableStream<number>({
    pull(controller) {
      events.push("pull");
      if (next === 6) controller.close();
      else controller.enqueue(next++);
    },
  }, { highWaterMark: 100 });
  for await (const chunk of stream) events.push(`chunk ${chunk}`);
  assert.doesNotMatch(events.join(), /pull,pull,pull,pull,pull/); // two in each microtask of a step
});

it("a step that waited settles after the next pull, as Web IDL's reactions have it", async () => {
  const events: string[] = [];
  let next = 0;
  const stream = new ReadableStream<number>({
    // deno-lint-ignore require-await -- the promise is what is tested
    async pull(controller) {
      events.push(`pull ${next}`);
      if (next === 3) controller.close();
      else controller.enqueue(next++);
    },
  }, { highWaterMark: 1 });
  for await (const chunk of stream) events.push(`chunk ${chunk}`);
  assert.deepEqual(events, ["pull 0", "pull 1", "chunk 0", "pull 2", "chunk 1", "pull 3", "chunk 2"]);
});
