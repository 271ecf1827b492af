import assert from "node:assert/strict";
import { it } from "node:test";
import { mixedSets, nativeSet, ourSet, type StreamSet } from "./stream_sets.ts";
import { isLong } from "../support/long_run.ts";

/**
 * The number of chunks above which only synchronous flushing is tested: promises are ten times slower under a test
 * runner.
 */
const MOST_AWAITED = 7;
const SOURCE_CHUNKS = ["s0", "s1", "s2"];

/** Every set of options of a pipe whose end does not matter to it. */
const optionSets: readonly StreamPipeOptions[] = Array.from({ length: 16 }, (_, bits) => ({
  preventClose: Boolean(bits & 1),
  preventAbort: Boolean(bits & 2),
  preventCancel: Boolean(bits & 4),
  ...(bits & 8 ? { signal: new AbortController().signal } : {}),
}));

type Flush = (count: number) => Transformer<string, string>["flush"];

const flushes: Readonly<Record<string, Flush>> = {
  "at once": (count) => (controller) => {
    for (let at = 0; at < count; at++) controller.enqueue(`f${at}`);
  },
  "between awaits": (count) => async (controller) => {
    for (let at = 0; at < count; at++) {
      if (at % 3 === 0) await undefined;
      controller.enqueue(`f${at}`);
    }
  },
};

type Write = (arrived: string[]) => UnderlyingSink<string>["write"];

const writes: Readonly<Record<string, Write>> = {
  "a synchronous sink": (arrived) => (chunk) => void arrived.push(chunk),
  "a sink that awaits": (arrived) => async (chunk) => {
    await undefined;
    arrived.push(chunk);
  },
};

interface Chain {
  readonly source: ReadableStream<string>;
  readonly transform: TransformStream<string, string>;
  readonly sink: WritableStream<string>;
  readonly set: StreamSet;
  readonly options: StreamPipeOptions;
}

/** Pipes by a loop over a reader and a writer, like hand-written code. */
async function pipeByHand(
  source: ReadableStream<string>,
  destination: WritableStream<string>,
  close: boolean,
): Promise<void> {
  const reader = source.getReader();
  const writer = destination.getWriter();
  for (let result = await reader.read(); !result.done; result = await reader.read()) {
    await writer.ready;
    writer.write(result.value).catch(() => {});
  }
  if (close) await writer.close();
  else await writer.ready;
}

/** Ways to run both halves of a chain concurrently, each by a pipe or by hand. */
const ways: Readonly<Record<string, (chain: Chain) => Promise<unknown>>> = {
  "pipeThrough() and pipeTo()": ({ source, transform, sink, set, options }) =>
    set.pipeTo(set.pipeThrough(source, transform, { ...options, preventClose: false }), sink, options),
  "pipeThrough() and a loop": ({ source, transform, sink, set, options }) =>
    pipeByHand(set.pipeThrough(source, transform, { ...options, preventClose: false }), sink, !options.preventClose),
  "a loop and pipeTo()": ({ source, transform, sink, set, options }) =>
    Promise.all([pipeByHand(source, transform.writable, true), set.pipeTo(transform.readable, sink, options)]),
  "two loops": ({ source, transform, sink, options }) =>
    Promise.all([
      pipeByHand(source, transform.writable, true),
      pipeByHand(transform.readable, sink, !options.preventClose),
    ]),
};

function sourceOf({ ReadableStream }: StreamSet): ReadableStream<string> {
  let next = 0;
  return new ReadableStream<string>({
    pull(controller): void {
      if (next === SOURCE_CHUNKS.length) controller.close();
      else controller.enqueue(SOURCE_CHUNKS[next++]);
    },
  });
}

async function deliver(set: StreamSet, count: number, options: StreamPipeOptions, way: string): Promise<void> {
  for (const [flushed, flush] of Object.entries(flushes)) {
    if (flushed === "between awaits" && count > MOST_AWAITED) continue;
    for (const [kind, write] of Object.entries(writes)) {
      const arrived: string[] = [];
      const transformer: Transformer<string, string> = {
        transform: (chunk, controller) => controller.enqueue(chunk),
        flush: flush(count),
      };
      const transform = new set.TransformStream<string, string>(transformer);
      const sink = new set.WritableStream<string>({ write: write(arrived), close: () => void arrived.push("closed") });
      await ways[way]({ source: sourceOf(set), transform, sink, set, options });
      // If the stream is not closed at the end, a loop's last writes are still pending.
      if (options.preventClose) await new Promise((resolve) => setImmediate(resolve));
      const end = options.preventClose ? [] : ["closed"];
      const expected = [...SOURCE_CHUNKS, ...Array.from({ length: count }, (_, at) => `f${at}`), ...end];
      assert.equal(arrived.join(), expected.join(), `flushed ${flushed} into ${kind}, ${JSON.stringify(options)}`);
    }
  }
}

for (const set of [ourSet, ...mixedSets, nativeSet]) {
  for (const way of Object.keys(ways)) {
    for (const count of [1, 7, 1000]) {
      it(`${way} with ${set.name} deliver ${count} chunks enqueued by flush(), whatever the options`, async () => {
        const sets = count < 1000 || isLong ? optionSets : optionSets.filter((_, i) => i === 0 || i === 15);
        for (const options of sets) await deliver(set, count, options, way);
      });
    }
  }
}
