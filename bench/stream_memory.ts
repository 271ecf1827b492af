/**
 * Streams much data through CompressionStream and back and prints how far the process's memory grew.
 *
 *   node bench/stream_memory.ts [--format zstd --level 3 --mebibytes 1024]
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CompressionStream, DecompressionStream, type Format } from "../lib/codecs/mod.ts";

const { values } = parseArgs({
  options: {
    format: { type: "string", default: "zstd" },
    level: { type: "string", default: "3" },
    mebibytes: { type: "string", default: "1024" },
  },
});
const format = values.format as Format;
const CHUNK = 64 * 1024;
const chunks = Number(values.mebibytes) * 2 ** 20 / CHUNK;

/** Text-like bytes that differ from chunk to chunk. */
function fill(chunk: Uint8Array, seed: number): void {
  let state = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i < chunk.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    chunk[i] = 97 + ((state >>> 24) & (state >>> 16) & 15);
  }
}

/** Returns the process's peak resident memory, in MiB, as the kernel counts it. */
function peakMemory(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024;
}

const sent = createHash("sha256");
const received = createHash("sha256");
let produced = 0;
const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
  pull(controller): void {
    if (produced === chunks) return controller.close();
    const chunk = new Uint8Array(CHUNK);
    fill(chunk, produced++);
    sent.update(chunk);
    controller.enqueue(chunk);
  },
}, { highWaterMark: 0 });

const before = peakMemory();
const started = performance.now();
let compressed = 0;
const meter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
  transform(chunk, controller): void {
    compressed += chunk.length;
    controller.enqueue(chunk);
  },
});
const back = source
  .pipeThrough(new CompressionStream(format, { level: Number(values.level) }))
  .pipeThrough(meter)
  .pipeThrough(new DecompressionStream(format));
for await (const chunk of back as unknown as AsyncIterable<Uint8Array>) received.update(chunk);

const seconds = (performance.now() - started) / 1000;
const same = sent.digest("hex") === received.digest("hex");
console.log(
  `${format} ${values.level}: ${values.mebibytes} MiB to ${(compressed / 2 ** 20).toFixed(1)} MiB and back in ` +
    `${seconds.toFixed(1)} s, peak memory +${(peakMemory() - before).toFixed(0)} MiB, bytes ${
      same ? "equal" : "DIFFER"
    }`,
);
if (!same) process.exitCode = 1;
