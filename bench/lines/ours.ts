import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { openFileReadable } from "../../lib/files/mod.ts";
import { ReadableStream, WritableStream } from "../../lib/streams/mod.ts";
import { LineStream, LineToNumberStream, NumberToLineStream } from "../../lib/text/mod.ts";
import { numberSource } from "./number_source.ts";
import type { Pipelines } from "./pipelines.ts";
import { Tally } from "./tally.ts";

type Take<T> = (item: T) => void;

async function linesOf(path: string): Promise<globalThis.ReadableStream<string>> {
  return (await openFileReadable(path)).pipeThrough(new LineStream());
}

async function numbersOf(path: string): Promise<globalThis.ReadableStream<number>> {
  return (await openFileReadable(path)).pipeThrough(new LineToNumberStream());
}

async function textOf(count: string): Promise<string> {
  const tally = new Tally();
  const source = new ReadableStream(numberSource(Number(count)));
  await source.pipeThrough(new NumberToLineStream()).pipeTo(new WritableStream({ write: tally.bytes }));
  return tally.result;
}

function pipelinesWith(consume: <T>(source: globalThis.ReadableStream<T>, take: Take<T>) => Promise<void>): Pipelines {
  return {
    async lines(path): Promise<string> {
      const tally = new Tally();
      await consume(await linesOf(path), tally.line);
      return tally.result;
    },
    async numbers(path): Promise<string> {
      const tally = new Tally();
      await consume(await numbersOf(path), tally.number);
      return tally.result;
    },
  };
}

/** A `write()` for each. */
export const toWritable: Pipelines = {
  ...pipelinesWith((source, take) => source.pipeTo(new WritableStream({ write: take }))),
  text: textOf,
};

/** A `writev()` for all that queued up. */
export const toBatched: Pipelines = pipelinesWith((source, take) => {
  return source.pipeTo(
    new BatchedWritableStream({
      writev(items): void {
        for (const item of items) take(item);
      },
    }),
  );
});

/** A promise for each. */
export const iterated: Pipelines = pipelinesWith(async (source, take) => {
  for await (const item of source) take(item);
});
