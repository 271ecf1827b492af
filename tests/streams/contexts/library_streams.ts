import { fileURLToPath } from "node:url";
import { BatchedWritableStream } from "../../../lib/batch/mod.ts";
import { CompressionStream, DecompressionStream } from "../../../lib/codecs/mod.ts";
import { openFileReadable } from "../../../lib/files/mod.ts";
import { ReadableStream, TransformStream, WritableStream } from "../../../lib/streams/mod.ts";
import { LineToNumberStream, NumberToLineStream } from "../../../lib/text/mod.ts";
import type { ProgramClasses } from "./programs.ts";

/** The streams of this package, and sources and sinks of its other parts. */
export const ours: ProgramClasses = {
  ReadableStream,
  WritableStream,
  TransformStream,
  transforms: [textAndBack, compressedAndBack],
  batched: (writev: (chunks: number[]) => Promise<void> | undefined) => new BatchedWritableStream<number>({ writev }),
  source: fileSizes,
} as unknown as ProgramClasses;

/** Writes numbers as lines and reads them again. */
function textAndBack(numbers: ReadableStream<number>): globalThis.ReadableStream<number> {
  return numbers
    .pipeThrough(new TransformStream<number, number>({ transform: (chunk, to) => to.enqueue(Number(chunk)) }))
    .pipeThrough(new NumberToLineStream())
    .pipeThrough(new LineToNumberStream());
}

/** Compresses and decompresses numbers; the stream has as many in the end, with other values perhaps. */
function compressedAndBack(numbers: ReadableStream<number>): globalThis.ReadableStream<number> {
  return numbers
    .pipeThrough(
      new TransformStream<number, Uint8Array<ArrayBuffer>>({
        transform: (chunk, to) => to.enqueue(new Uint8Array(1000).fill(Number(chunk))),
      }),
    )
    .pipeThrough(new CompressionStream("gzip"))
    .pipeThrough(new DecompressionStream("gzip"))
    .pipeThrough(new TransformStream({ transform: (chunk, to) => to.enqueue(chunk.length % 100) }));
}

/** Returns the sizes of the chunks of a file. */
function fileSizes(take: () => void): ReadableStream<number> {
  const opened = openFileReadable(fileURLToPath(new URL("../../../CHANGELOG.md", import.meta.url)));
  return ReadableStream.from((async function* () {
    const bytes = (await opened).pipeThrough(new TransformStream({ transform: (chunk, to) => to.enqueue(chunk) }));
    for await (const chunk of bytes) {
      take();
      yield chunk.length;
    }
  })());
}
