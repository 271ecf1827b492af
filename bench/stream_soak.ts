/**
 * Sends very many chunks through three transforms, then makes very many short streams, both once to warm up and once to
 * count, and prints the process's memory at intervals and how fast it grows. The number of unhandled rejections has to
 * be 0.
 *
 *   npm run bench -- stream_soak [--chunks 10000000] [--streams 1000000] [--native]
 */
import process from "node:process";
import { parseArgs } from "node:util";
import * as streams from "../lib/streams/mod.ts";
import { circumstances, table } from "./results.ts";

const { values } = parseArgs({
  options: {
    chunks: { type: "string", default: "10000000" },
    streams: { type: "string", default: "1000000" },
    native: { type: "boolean", default: false },
  },
});
type Classes = Pick<typeof globalThis, "ReadableStream" | "TransformStream" | "WritableStream">;
const { ReadableStream, TransformStream, WritableStream } = (values.native ? globalThis : streams) as Classes;

const SAMPLES = 20;
const MEBIBYTE = 2 ** 20;

interface Sample {
  /** The amount of work done, in millions. */
  readonly done: number;
  /** Resident memory in MiB. */
  readonly memory: number;
}

let unhandled = 0;
process.on("unhandledRejection", (reason) => {
  if (unhandled++ === 0) console.error("first unhandled rejection:", reason);
});

/** Notes the memory every now and then. */
class Log {
  readonly samples: Sample[] = [];
  readonly #interval: number;

  constructor(total: number) {
    this.#interval = Math.max(1, Math.floor(total / SAMPLES));
  }

  note(done: number): void {
    if (done % this.#interval !== 0) return;
    this.samples.push({ done: done / 1e6, memory: process.memoryUsage().rss / MEBIBYTE });
  }
}

/** Returns the least-squares slope, in MiB a million. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, one) => sum + of(one), 0) / samples.length;
  const [done, memory] = [mean((one) => one.done), mean((one) => one.memory)];
  const spread = mean((one) => (one.done - done) ** 2);
  return spread === 0 ? 0 : mean((one) => (one.done - done) * (one.memory - memory)) / spread;
}

function passOn(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({ transform: (chunk, controller) => controller.enqueue(chunk) });
}

/** Sends all chunks through one pipe of three transforms. */
async function manyChunks(total: number): Promise<Log> {
  const log = new Log(total);
  const chunk = new Uint8Array(1024);
  let [sent, received] = [0, 0];
  const source = new ReadableStream<Uint8Array>({
    pull(controller): void {
      if (sent++ < total) controller.enqueue(chunk);
      else controller.close();
    },
  }, { highWaterMark: 16 });
  const sink = new WritableStream<Uint8Array>({ write: () => log.note(++received) }, { highWaterMark: 16 });
  await source.pipeThrough(passOn()).pipeThrough(passOn()).pipeThrough(passOn()).pipeTo(sink);
  if (received !== total) throw new Error(`${received} of ${total} chunks arrived`);
  return log;
}

/** The ends of short streams: mostly a close. */
const ends = [
  "well",
  "well",
  "well",
  "well",
  "well",
  "well",
  "well",
  "cancelled",
  "source fails",
  "sink fails",
] as const;

/** Sends 40-byte chunks through a short stream with a transform, and resolves to the number that arrived. */
async function shortStream(end: (typeof ends)[number]): Promise<number> {
  let [sent, received] = [0, 0];
  const source = new ReadableStream<Uint8Array>({
    pull(controller): void {
      if (end === "source fails" && sent === 3) controller.error(new Error(end));
      else if (sent++ < 5) controller.enqueue(new Uint8Array(40));
      else controller.close();
    },
  });
  const through = source.pipeThrough(passOn());
  if (end === "cancelled") {
    const reader = through.getReader();
    await reader.read();
    await reader.cancel();
    return 1;
  }
  const write = (): void => {
    if (end === "sink fails" && received === 2) throw new Error(end);
    received++;
  };
  await through.pipeTo(new WritableStream<Uint8Array>({ write })).catch((error) => {
    if (error.message !== end) throw error;
  });
  if (end === "well" && received !== 5) throw new Error(`${received} of 5 chunks arrived`);
  return received;
}

async function manyStreams(total: number): Promise<Log> {
  const log = new Log(total);
  for (let done = 1; done <= total; done++) {
    await shortStream(ends[done % ends.length]);
    log.note(done);
  }
  return log;
}

async function soak(title: string, total: number, run: (total: number) => Promise<Log>): Promise<void> {
  await run(total); // the warm-up: engines take about as long to size their heaps
  const started = performance.now();
  const { samples } = await run(total);
  const seconds = (performance.now() - started) / 1000;
  const rows = samples.map(({ done, memory }) => [done.toFixed(2), memory.toFixed(1)]);
  const memory = samples.map((sample) => sample.memory);
  console.log(`\n${total} ${title}: ${seconds.toFixed(1)} s, ${Math.round(total / seconds / 1000)} a millisecond\n`);
  console.log(table(["millions", "RSS MiB"], rows));
  console.log(`\nafter the warm-up: ${Math.min(...memory).toFixed(1)} to ${Math.max(...memory).toFixed(1)} MiB,`);
  console.log(`slope ${slope(samples).toFixed(2)} MiB a million, unhandled rejections so far: ${unhandled}`);
}

console.log(`${values.native ? "native streams" : "our streams"}, ${circumstances()}`);
await soak("chunks through three transforms", Number(values.chunks), manyChunks);
await soak("short streams", Number(values.streams), manyStreams);
await new Promise((resolve) => setTimeout(resolve, 50));
console.log(`\nunhandled rejections: ${unhandled}`);
process.exitCode = unhandled === 0 ? 0 : 1;
