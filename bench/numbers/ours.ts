import { NumberFileWriter, openFileReadable } from "../../lib/files/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { LineToNumberStream } from "../../lib/text/mod.ts";
import type { NumbersJob } from "./pipelines.ts";

/** Reads, parses and writes. */
export async function fileToFiles({ input, directory, maxFileSize }: NumbersJob): Promise<void> {
  const file = await openFileReadable(input);
  await file.pipeThrough(new LineToNumberStream()).pipeTo(new NumberFileWriter({ directory, maxFileSize }));
}

/** Pipes a generator. */
export async function generatorToFiles({ numbers, directory, maxFileSize }: NumbersJob): Promise<void> {
  await ReadableStream.from(numbers()).pipeTo(new NumberFileWriter({ directory, maxFileSize }));
}

/** Writes in a loop. */
export async function writesToFiles({ numbers, directory, maxFileSize }: NumbersJob): Promise<void> {
  const writer = new NumberFileWriter({ directory, maxFileSize }).getWriter();
  for (const number of numbers()) {
    void writer.write(number);
    if (writer.desiredSize! <= 0) await writer.ready;
  }
  await writer.close();
}
