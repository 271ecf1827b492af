import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { openNativeReadable } from "../native_file.ts";
import { Deno, openFileSink, openFsFile, type OpenOutput, openWithNode } from "../output_file.ts";
import type { RecordPipeline } from "./pipelines.ts";

const READ_SIZE = 256 * 1024;
/** Characters of JSON gathered for one write. */
const GATHERED = 256 * 1024;

type Bytes = Uint8Array<ArrayBuffer>;
type Lines = ReadableWritablePair<string, string>;

function readFile(path: string): Promise<ReadableStream<Bytes>> {
  return openNativeReadable(path, READ_SIZE);
}

function lineStream(): Lines {
  let rest = "";
  return new TransformStream<string, string>({
    transform(text, controller): void {
      const parts = (rest + text).split("\n");
      rest = parts.pop()!;
      for (const line of parts) controller.enqueue(line);
    },
    flush(controller): void {
      if (rest !== "") controller.enqueue(rest);
    },
  });
}

function parsed(): TransformStream<string, unknown> {
  return new TransformStream({ transform: (line, controller) => controller.enqueue(JSON.parse(line)) });
}

function stringified(): TransformStream<unknown, string> {
  return new TransformStream({ transform: (record, controller) => controller.enqueue(`${JSON.stringify(record)}\n`) });
}

/** Creates a sink that collects its chunks: a write for each string would be far slower. */
async function fileOf(path: string, openOutput: OpenOutput): Promise<WritableStream<string>> {
  const file = await openOutput(path);
  const encoder = new TextEncoder();
  let gathered = "";
  const flush = (): Promise<void> => {
    const bytes = encoder.encode(gathered);
    gathered = "";
    return file.write(bytes);
  };
  return new WritableStream({
    write(text): Promise<void> | undefined {
      gathered += text;
      return gathered.length < GATHERED ? undefined : flush();
    },
    async close(): Promise<void> {
      await flush();
      await file.close();
    },
  });
}

function pipelineWith(read: typeof readFile, lines: () => Lines, openOutput: OpenOutput): RecordPipeline {
  return async (input, directory) => {
    const text = (await read(input)).pipeThrough(new TextDecoderStream());
    await text.pipeThrough(lines()).pipeThrough(parsed()).pipeThrough(stringified()).pipeTo(
      await fileOf(join(directory, "records.ndjson"), openOutput),
    );
  };
}

/** Files by `node:fs`. */
export const withNode: RecordPipeline = pipelineWith(readFile, lineStream, openWithNode);

/** Bun's own way to write. */
export const withFileSink: RecordPipeline = pipelineWith(readFile, lineStream, openFileSink);

/** Deno's own way with files, and lines by the standard library of Deno. */
export async function withLineStream(): Promise<RecordPipeline> {
  const path = join(process.env.DENO_STD_ROOT!, "streams/text_line_stream.ts");
  const { TextLineStream } = await import(pathToFileURL(path).href);
  return pipelineWith(async (path) => (await Deno.open(path)).readable, () => new TextLineStream(), openFsFile);
}
