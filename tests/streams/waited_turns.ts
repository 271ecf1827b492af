/**
 * Prints as JSON for how many turns of the event loop a short pipe waits, and a long one. This is a separate process
 * because no other pipe may have run before.
 */
import process from "node:process";

/** The number of times that the end of a turn was waited for. */
export interface Turns {
  readonly short: number;
  readonly long: number;
}

let turns = 0;
const { setImmediate } = globalThis;
globalThis.setImmediate = ((steps: () => void) => {
  turns++;
  return setImmediate(steps);
}) as never;
const { pipeTo, ReadableStream, TransformStream, WritableStream } = await import("../../lib/streams/mod.ts");

async function waited(chunks: number): Promise<number> {
  turns = 0;
  let left = chunks;
  const source = new ReadableStream<number>({
    pull(controller): void {
      controller.enqueue(left);
      if (--left === 0) controller.close();
    },
  });
  await pipeTo(source.pipeThrough(new TransformStream()), new WritableStream({ write: () => Promise.resolve() }));
  return turns;
}

const short = await waited(40);
let long = 0;
while (long === 0) long = await waited(100_000); // until it takes long enough here
console.log(JSON.stringify({ short, long }));
process.exit(0);
