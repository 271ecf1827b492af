import { openFileReadable, RotatingFileWritable } from "../../lib/files/mod.ts";
import { TransformStream } from "../../lib/streams/mod.ts";
import { JsonLinesEncoderStream, JsonLineStream, LineStream } from "../../lib/text/mod.ts";

function parsed(): TransformStream<string, unknown> {
  return new TransformStream({ transform: (line, controller) => controller.enqueue(JSON.parse(line)) });
}

function stringified(): TransformStream<unknown, string> {
  return new TransformStream({ transform: (record, controller) => controller.enqueue(`${JSON.stringify(record)}\n`) });
}

function fileIn(directory: string): RotatingFileWritable {
  return new RotatingFileWritable({ directory, maxFileSize: Number.MAX_SAFE_INTEGER });
}

/** Reads and writes the file with one chunk for each record. */
export async function reemit(input: string, directory: string): Promise<void> {
  const file = await openFileReadable(input);
  const lines = file.pipeThrough(new JsonLineStream()).pipeThrough(new JsonLinesEncoderStream());
  await lines.pipeTo(fileIn(directory));
}

/** Reads and writes the file with one chunk for each line, record and string. */
export async function reemitByHand(input: string, directory: string): Promise<void> {
  const file = await openFileReadable(input);
  const lines = file.pipeThrough(new LineStream()).pipeThrough(parsed()).pipeThrough(stringified());
  await lines.pipeTo(fileIn(directory));
}
