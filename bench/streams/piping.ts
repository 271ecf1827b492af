import type { Implementation } from "./implementation.ts";
import { chunk, CountingSink, longSource, MARK, pipeToCounter, type Scenario } from "./scenario.ts";

const BURST = 64;

/** The scenarios of long streams that are piped, with or without transforms. */
export const piping: readonly Scenario[] = [
  {
    title: "pipeTo, sync sink",
    unit: 1,
    run: (classes, amount) => pipeToCounter(classes, longSource(classes, amount)),
  },
  {
    title: "pipeTo with signal",
    unit: 1,
    run: (classes, amount) =>
      pipeToCounter(classes, longSource(classes, amount), { signal: new AbortController().signal }),
  },
  {
    title: `pipeTo, source bursts of ${BURST}`,
    unit: BURST,
    run: (classes, amount) => pipeToCounter(classes, new classes.ReadableStream(bursts(amount), MARK)),
  },
  {
    title: "pipeTo, sink returns a promise",
    unit: 1,
    async run(classes, amount) {
      const sink = new AsyncSink();
      await classes.pipeTo(longSource(classes, amount), new classes.WritableStream(sink, MARK));
      return sink.count();
    },
  },
  ...[1, 3, 8].map((hops): Scenario => ({
    title: `pipeThrough x${hops}`,
    unit: 1,
    run: (classes, amount) => pipeToCounter(classes, throughIdentities(classes, longSource(classes, amount), hops)),
  })),
  {
    title: "pipeThrough x3, marks 16",
    unit: 1,
    run: (classes, amount) => pipeToCounter(classes, throughIdentities(classes, longSource(classes, amount), 3, MARK)),
  },
  {
    title: "tee, both piped",
    unit: 1,
    async run(classes, amount) {
      const [one, other] = longSource(classes, amount).tee();
      const counts = await Promise.all([pipeToCounter(classes, one), pipeToCounter(classes, other)]);
      return same(counts[0], counts[1]);
    },
  },
  {
    title: "tee, one branch after the other",
    unit: 1024,
    run: (classes, amount) =>
      times(amount, async () => {
        const [one, other] = longSource(classes, 1024).tee();
        return same(await pipeToCounter(classes, one), await pipeToCounter(classes, other));
      }),
  },
  {
    title: "tee, one branch slow",
    unit: 1024,
    run: (classes, amount) =>
      times(amount, async () => {
        const [one, other] = longSource(classes, 1024).tee();
        const slow = new SlowSink();
        const [count] = await Promise.all([
          pipeToCounter(classes, one),
          classes.pipeTo(other, new classes.WritableStream(slow, MARK)),
        ]);
        return same(count, slow.count());
      }),
  },
];

/** Pipes through `hops` transforms that pass chunks on. By default their high-water marks are 1 and 0. */
export function throughIdentities(
  { TransformStream, pipeThrough }: Implementation,
  source: ReadableStream<Uint8Array>,
  hops: number,
  strategy?: QueuingStrategy<Uint8Array>,
): ReadableStream<Uint8Array> {
  let end = source;
  for (let i = 0; i < hops; i++) {
    end = pipeThrough(
      end,
      new TransformStream<Uint8Array, Uint8Array>(
        { transform: (bytes, controller) => controller.enqueue(bytes) },
        strategy,
        strategy,
      ),
    );
  }
  return end;
}

/** Repeats `work` and returns the sum of its results. */
export async function times(count: number, work: () => Promise<number>): Promise<number> {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += await work();
  return sum;
}

/** Returns the count of both branches, or NaN, which no row expects, if they differ. */
function same(count: number, other: number): number {
  return count === other ? count : NaN;
}

/** Returns a source that delivers more than the high-water mark at a time, like a file or socket. */
function bursts(count: number): UnderlyingDefaultSource<Uint8Array> {
  let left = count;
  return {
    pull(controller) {
      for (let i = 0; i < BURST; i++) controller.enqueue(chunk);
      if (--left === 0) controller.close();
    },
  };
}

/** Asynchronous by habit. */
class AsyncSink extends CountingSink {
  // deno-lint-ignore require-await -- the promise is what is measured
  override async write(bytes: Uint8Array): Promise<void> {
    super.write(bytes);
  }
}

/** Waits for the event loop after each 64 chunks. */
class SlowSink extends CountingSink {
  override write(bytes: Uint8Array): void | Promise<void> {
    super.write(bytes);
    if (this.chunks % 64 === 0) return new Promise((done) => setImmediate(done));
  }
}
