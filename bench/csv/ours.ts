import { join } from "node:path";
import { openFileReadable, openFileWritable } from "../../lib/files/mod.ts";
import { WritableStream } from "../../lib/streams/mod.ts";
import { CsvDecoderStream, CsvEncoderStream } from "../../lib/text/mod.ts";
import type { CsvPipelines } from "./pipelines.ts";
import { Tally } from "./tally.ts";

/** The pipelines with one chunk for each record. */
export const ours: CsvPipelines = {
  async read(input, directory): Promise<void> {
    const tally = new Tally();
    const file = await openFileReadable(input);
    await file.pipeThrough(new CsvDecoderStream()).pipeTo(new WritableStream({ write: tally.add }));
    await tally.write(directory);
  },

  async copy(input, directory): Promise<void> {
    const file = await openFileReadable(input);
    await file.pipeThrough(new CsvDecoderStream()).pipeThrough(new CsvEncoderStream({ lineEnding: "\n" })).pipeTo(
      await openFileWritable(join(directory, "copy.csv")),
    );
  },
};
