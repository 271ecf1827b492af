import { times } from "./piping.ts";
import { chunk, iterate, longSource, MARK, pulled, QUEUED, queued, type Scenario } from "./scenario.ts";

const small = chunk.slice(0, 64);

/** Streams read by `for await`. */
export const iterating: readonly Scenario[] = [
  {
    title: "for await",
    unit: 1,
    run: (classes, amount) => iterate(longSource(classes, amount)),
  },
  {
    title: "for await, 64 bytes",
    unit: 1,
    run: ({ ReadableStream }, amount) => iterate(new ReadableStream(pulled(amount, small), MARK), small.length),
  },
  {
    title: "for await, mark 1",
    unit: 1,
    run: ({ ReadableStream }, amount) => iterate(new ReadableStream(pulled(amount))),
  },
  {
    title: "for await, pull returns a promise",
    unit: 1,
    run: ({ ReadableStream }, amount) => iterate(new ReadableStream(pulledLater(amount), MARK)),
  },
  {
    title: "for await, queued",
    unit: QUEUED,
    run: ({ ReadableStream }, amount) => times(amount, () => iterate(new ReadableStream(queued(QUEUED)))),
  },
  {
    title: "for await, queued, 64 bytes",
    unit: QUEUED,
    run: ({ ReadableStream }, amount) =>
      times(amount, () => iterate(new ReadableStream(queued(QUEUED, small)), small.length)),
  },
  {
    title: "for await, queued while it waits",
    unit: 1,
    run: ({ ReadableStream }, amount) =>
      iterate(new ReadableStream({ start: (controller) => void arrive(controller, amount) })),
  },
];

/** Returns a source of `count` chunks whose pull is asynchronous by habit. */
function pulledLater(count: number): UnderlyingDefaultSource<Uint8Array> {
  const source = pulled(count);
  return {
    // deno-lint-ignore require-await -- the promise is what is measured
    async pull(controller) {
      source.pull!(controller);
    },
  };
}

/** Enqueues a chunk whenever the one before has been pulled. */
async function arrive(controller: ReadableStreamDefaultController<Uint8Array>, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    while (controller.desiredSize! < 1) await undefined;
    controller.enqueue(chunk);
    await undefined;
  }
  controller.close();
}
