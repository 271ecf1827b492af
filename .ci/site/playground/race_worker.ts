/**
 * Races streams: the browser's own and those of the package do the same work in turns.
 *
 * @module
 */
import * as millrace from "../../../lib/streams/mod.ts";

type Classes = Pick<typeof globalThis, "ReadableStream" | "TransformStream" | "WritableStream">;

/** A round's time in ms. */
export interface Lap {
  readonly race: string;
  readonly runner: "native" | "millrace";
  readonly ms: number;
}

const CHUNKS = 10_000;
const ROUNDS = 9;

function numbers({ ReadableStream }: Classes): ReadableStream<number> {
  let left = CHUNKS;
  return new ReadableStream<number>({
    pull: (controller) => left-- > 0 ? controller.enqueue(left) : controller.close(),
  });
}

async function read(stream: ReadableStream<number>): Promise<number> {
  const reader = stream.getReader();
  let count = 0;
  while (!(await reader.read()).done) count++;
  return count;
}

/** The races: each moves all chunks, and returns how many have arrived. */
const races: Readonly<Record<string, (classes: Classes) => Promise<number>>> = {
  "three transforms": async (classes) => {
    let stream = numbers(classes);
    for (let i = 0; i < 3; i++) stream = stream.pipeThrough(new classes.TransformStream());
    let count = 0;
    await stream.pipeTo(new classes.WritableStream({ write: () => void count++ }));
    return count;
  },
  "a pipe": async (classes) => {
    let count = 0;
    await numbers(classes).pipeTo(new classes.WritableStream({ write: () => void count++ }));
    return count;
  },
  "a reader": (classes) => read(numbers(classes)),
  "a tee": async (classes) => {
    const [one, other] = numbers(classes).tee();
    return (await read(one) + await read(other)) / 2;
  },
};

async function runAll(): Promise<void> {
  const runners = { native: globalThis as Classes, millrace: millrace as unknown as Classes };
  // The first round warms the engine up, and counts for nothing.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [race, run] of Object.entries(races)) {
      const names = Object.keys(runners) as (keyof typeof runners)[];
      for (const runner of round % 2 === 0 ? names : names.toReversed()) {
        const began = performance.now();
        const count = await run(runners[runner]);
        const ms = performance.now() - began;
        if (count !== CHUNKS) throw new Error(`${runner}: ${count} of ${CHUNKS} chunks have come through ${race}`);
        if (round > 0) globalThis.postMessage({ race, runner, ms } satisfies Lap);
      }
    }
  }
  globalThis.postMessage("done");
}

globalThis.addEventListener("message", () => void runAll());
