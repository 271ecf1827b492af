/**
 * Prints, as JSON, how large the batches are that a sink slower than its producers gets: COUNT. A producer writes one
 * number at a time and heeds backpressure; of batches it knows nothing.
 */
import { open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { ReadableStream as OurReadableStream, type WritableStream } from "../../lib/streams/mod.ts";

/** The figures of one producer and one sink. */
export interface BatchFigures {
  readonly producer: string;
  readonly sink: string;
  readonly batches: number;
  /** Chunks of a batch. */
  readonly average: number;
  readonly largest: number;
}

const HIGH_WATER_MARK = 4096;
const count = Number(process.argv[2]);

function* numbers(): Generator<number, void, undefined> {
  for (let number = 0; number < count; number++) yield number;
}

/** Returns a stream of one number a pull, like `ReadableStream.from()`, also where a runtime lacks it. */
function pulling<Stream>(Class: new (source: UnderlyingDefaultSource<number>) => Stream): Stream {
  const generator = numbers();
  return new Class({
    pull(controller): void {
      const { value, done } = generator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

const producers: Readonly<Record<string, (to: WritableStream<number>) => Promise<void>>> = {
  "writer.write(), ready when full": async (to) => {
    const writer = to.getWriter();
    for (const number of numbers()) {
      void writer.write(number);
      if (writer.desiredSize! <= 0) await writer.ready;
    }
    await writer.close();
  },
  "writer.write(), ready each time": async (to) => {
    const writer = to.getWriter();
    for (const number of numbers()) {
      await writer.ready;
      void writer.write(number);
    }
    await writer.close();
  },
  "our pipeTo() of a generator": (to) => OurReadableStream.from(numbers()).pipeTo(to),
  "our pipeTo() of a pull source": (to) => pulling(OurReadableStream<number>).pipeTo(to),
  "native pipeTo() of a pull source": (to) => pulling(ReadableStream<number>).pipeTo(to),
};

type Take = (batch: readonly number[]) => Promise<void>;

/** Counts the batches that `take` gets from a producer. */
async function measure(producer: string, sink: string, take: Take): Promise<BatchFigures> {
  let [batches, largest, expected] = [0, 0, 0];
  const writev = (batch: number[]): Promise<void> => {
    batches++;
    largest = Math.max(largest, batch.length);
    for (const number of batch) {
      if (number !== expected++) throw new TypeError(`${number} came in place of ${expected - 1}`);
    }
    return take(batch);
  };
  const stream = new BatchedWritableStream<number>({ writev }, { highWaterMark: HIGH_WATER_MARK });
  await producers[producer](stream);
  if (expected !== count) throw new TypeError(`${expected} of ${count} numbers arrived`);
  return { producer, sink, batches, average: count / batches, largest };
}

const path = join(tmpdir(), `millrace-batches-${process.pid}.txt`);
const file = await open(path, "w");
const sinks: Readonly<Record<string, Take>> = {
  "timer of 2 ms": () => setTimeout(2),
  "file, flushed to disk": async (batch) => {
    await file.write(`${batch.join("\n")}\n`);
    await file.datasync();
  },
};
const figures: BatchFigures[] = [];
for (const producer of Object.keys(producers)) {
  for (const [sink, take] of Object.entries(sinks)) figures.push(await measure(producer, sink, take));
}
await file.close();
await rm(path);
console.log(JSON.stringify(figures));
