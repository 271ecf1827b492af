import { ReadableStream, TransformStream } from "../../lib/streams/mod.ts";
import { range, turn } from "./progress.ts";

/** Makes a stream of the numbers from 1 to a count. */
export type NumberSource = (count: number) => globalThis.ReadableStream<number>;

type Classes = Pick<typeof globalThis, "ReadableStream" | "TransformStream">;

const ours = { ReadableStream, TransformStream } as unknown as Classes;
const native: Classes = globalThis;

/** Pulls `burst` numbers at a time. */
function pulled(
  { ReadableStream }: Classes,
  count: number,
  burst: number,
  highWaterMark: number,
  wait?: () => Promise<void> | undefined,
): globalThis.ReadableStream<number> {
  let last = 0;
  return new ReadableStream<number>({
    async pull(controller): Promise<void> {
      await wait?.();
      for (let left = burst; left > 0 && last < count; left--) controller.enqueue(++last);
      if (last === count) controller.close();
    },
  }, { highWaterMark });
}

/** Creates the same source with a pull() that returns no promise. */
function pulledAtOnce(
  { ReadableStream }: Classes,
  count: number,
  burst: number,
  highWaterMark: number,
): globalThis.ReadableStream<number> {
  let last = 0;
  return new ReadableStream<number>({
    pull(controller): void {
      for (let left = burst; left > 0 && last < count; left--) controller.enqueue(++last);
      if (last === count) controller.close();
    },
  }, { highWaterMark });
}

function buffered({ ReadableStream }: Classes, count: number): globalThis.ReadableStream<number> {
  return new ReadableStream<number>({
    start(controller): void {
      for (const number of range(1, count)) controller.enqueue(number);
      controller.close();
    },
  });
}

/** Returns a transform that makes bursts of some chunks, and nothing of others; its flush() gives the rest. */
function bursts({ TransformStream }: Classes, size: number): globalThis.TransformStream<number, number> {
  let held: number[] = [];
  const release = (controller: TransformStreamDefaultController<number>): void => {
    for (const number of held) controller.enqueue(number);
    held = [];
  };
  return new TransformStream<number, number>({
    transform(number, controller): void {
      if (held.push(number) === size) release(controller);
    },
    flush: release,
  });
}

async function* generated(count: number): AsyncGenerator<number> {
  for (let number = 1; number <= count; number++) {
    if (number % 64 === 0) await turn();
    yield number;
  }
}

function* withPromises(count: number): Generator<number | Promise<number>> {
  for (let number = 1; number <= count; number++) {
    if (number % 10 === 0) yield Promise.resolve(number);
    else if (number % 33 === 0) yield turn().then(() => number);
    else yield number;
  }
}

/** Chunks that count as more than 1 for their own stream. */
function weighed({ ReadableStream }: Classes, count: number): globalThis.ReadableStream<number> {
  let last = 0;
  return new ReadableStream<number>({
    pull(controller): void {
      if (last < count) controller.enqueue(++last);
      else controller.close();
    },
  }, { highWaterMark: 10, size: (number) => number % 4 / 2 });
}

function sourcesOf(classes: Classes): Record<string, NumberSource> {
  const sources: Record<string, NumberSource> = {};
  for (const highWaterMark of [0, 1, 16, 100_000]) {
    sources[`with high-water mark ${highWaterMark}`] = (count) => pulledAtOnce(classes, count, 1, highWaterMark);
    sources[`of bursts, with high-water mark ${highWaterMark}`] = (count) =>
      pulledAtOnce(classes, count, 50, highWaterMark);
    sources[`that promises, with high-water mark ${highWaterMark}`] = (count) =>
      pulled(classes, count, 1, highWaterMark);
  }
  return {
    ...sources,
    "that waits for a turn now and then": (count) => {
      let pulls = 0;
      return pulled(classes, count, 3, 16, () => pulls++ % 20 === 0 ? turn() : undefined);
    },
    "that is full from the start": (count) => buffered(classes, count),
    "with chunks of other sizes": (count) => weighed(classes, count),
    "that is a transform of bursts": (count) => buffered(classes, count).pipeThrough(bursts(classes, 30)),
    "that is two transforms of bursts": (count) =>
      pulled(classes, count, 7, 3).pipeThrough(bursts(classes, 100)).pipeThrough(bursts(classes, 7)),
    "that is a branch of a tee": (count) => {
      const [one, other] = pulled(classes, count, 7, 3).tee();
      void other.cancel();
      return one;
    },
  };
}

/** Sources of this package's class, by name. */
export const ourSources: Readonly<Record<string, NumberSource>> = {
  ...sourcesOf(ours),
  "from an array": (count) => ReadableStream.from(range(1, count)),
  "from a generator with promises among its values": (count) => ReadableStream.from(withPromises(count)),
  "from an async generator": (count) => ReadableStream.from(generated(count)),
};

/** Sources of the runtime's class, by name. */
export const nativeSources: Readonly<Record<string, NumberSource>> = sourcesOf(native);
