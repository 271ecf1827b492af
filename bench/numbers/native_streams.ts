import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { openNativeReadable } from "../native_file.ts";
import { Bun, Deno, openFileSink, openFsFile, type OpenOutput, openWithNode } from "../output_file.ts";
import { NumberParser } from "./number_text.ts";
import type { NumberPipelines } from "./pipelines.ts";
import { SizedFiles } from "./sized_files.ts";

/** Numbers that wait between two streams: 4,096 take up to 3 times as long on Deno, and bring nothing elsewhere. */
const WAITING = 64;
/** The size of a read, whose numbers all queue up in the transform: 256 KiB take 6 times as long on Deno. */
const READ_SIZE = 16 * 1024;

type Bytes = Uint8Array<ArrayBuffer>;
type OpenInput = (path: string) => Promise<ReadableStream<Bytes>>;
type ToNumbers = (file: ReadableStream<Bytes>) => ReadableStream<number>;

function readWithNode(path: string): Promise<ReadableStream<Bytes>> {
  return openNativeReadable(path, READ_SIZE);
}

function parsed(file: ReadableStream<Bytes>): ReadableStream<number> {
  const parser = new NumberParser();
  return file.pipeThrough(
    new TransformStream(
      {
        transform(chunk: Bytes, controller): void {
          parser.parse(chunk, (number) => controller.enqueue(number));
        },
      },
      undefined,
      { highWaterMark: WAITING },
    ),
  );
}

function sinkOf(files: SizedFiles): WritableStream<number> {
  return new WritableStream({
    write(number): Promise<void> | undefined {
      files.add(number);
      return files.hasRoom ? undefined : files.flush();
    },
    close: () => files.close(),
  }, { highWaterMark: WAITING });
}

function pipelinesWith(openInput: OpenInput, toNumbers: ToNumbers, openOutput: OpenOutput): NumberPipelines {
  return {
    fileToFiles: async ({ input, directory, maxFileSize }) => {
      const sink = sinkOf(new SizedFiles(directory, maxFileSize, openOutput));
      await toNumbers(await openInput(input)).pipeTo(sink);
    },
    generatorToFiles: async ({ numbers, directory, maxFileSize }) => {
      const generator = numbers();
      const source = new ReadableStream<number>({
        pull(controller): void {
          const { value, done } = generator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      }, { highWaterMark: WAITING });
      await source.pipeTo(sinkOf(new SizedFiles(directory, maxFileSize, openOutput)));
    },
    writesToFiles: async ({ numbers, directory, maxFileSize }) => {
      const writer = sinkOf(new SizedFiles(directory, maxFileSize, openOutput)).getWriter();
      for (const number of numbers()) {
        void writer.write(number);
        if (writer.desiredSize! <= 0) await writer.ready;
      }
      await writer.close();
    },
  };
}

/** Files by `node:fs`. */
export function withNode(): NumberPipelines {
  return pipelinesWith(readWithNode, parsed, openWithNode);
}

/** Bun's own way with files. */
export function withFileSink(): NumberPipelines {
  return pipelinesWith((path) => Promise.resolve(Bun.file(path).stream()), parsed, openFileSink);
}

/** Deno's own way with files. */
export function withFsFile(): NumberPipelines {
  return pipelinesWith(async (path) => (await Deno.open(path)).readable, parsed, openFsFile);
}

/** Deno's own way with files, and lines by the standard library of Deno. */
export async function withLineStream(): Promise<NumberPipelines> {
  const path = join(process.env.DENO_STD_ROOT!, "streams/text_line_stream.ts");
  const { TextLineStream } = await import(pathToFileURL(path).href);
  const toNumbers: ToNumbers = (file) =>
    file.pipeThrough(new TextDecoderStream()).pipeThrough<string>(new TextLineStream()).pipeThrough(
      new TransformStream(
        {
          transform(line, controller): void {
            controller.enqueue(Number(line));
          },
        },
        undefined,
        { highWaterMark: WAITING },
      ),
    );
  return {
    fileToFiles: pipelinesWith(async (path) => (await Deno.open(path)).readable, toNumbers, openFsFile).fileToFiles,
  };
}
