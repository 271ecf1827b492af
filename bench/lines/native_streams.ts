import { open } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { numberSource } from "./number_source.ts";
import { type Pipelines, stdLineStream } from "./pipelines.ts";
import { Tally } from "./tally.ts";

/** The size of a read in bytes; larger chunks of lines are slower on Deno. */
const READ_SIZE = 64 * 1024;

type Bytes = Uint8Array<ArrayBuffer>;
type Lines = ReadableWritablePair<string, string>;

async function textOf(path: string): Promise<ReadableStream<string>> {
  const handle = await open(path, "r");
  const bytes = new ReadableStream<Bytes>({
    async pull(controller): Promise<void> {
      const { bytesRead, buffer } = await handle.read(new Uint8Array(READ_SIZE));
      if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
      await handle.close();
      controller.close();
    },
  });
  return bytes.pipeThrough(new TextDecoderStream());
}

/** Splits lines as it is usually written. */
function lineStream(): Lines {
  let rest = "";
  return new TransformStream<string, string>({
    transform(text, controller): void {
      const parts = (rest + text).split(/\r?\n/);
      rest = parts.pop()!;
      for (const line of parts) controller.enqueue(line);
    },
    flush(controller): void {
      if (rest !== "") controller.enqueue(rest);
    },
  });
}

function pipelinesWith(lines: () => Lines): Pipelines {
  return {
    async lines(path): Promise<string> {
      const tally = new Tally();
      const text = await textOf(path);
      await text.pipeThrough(lines()).pipeTo(new WritableStream({ write: tally.line }));
      return tally.result;
    },
    async numbers(path): Promise<string> {
      const tally = new Tally();
      const parsed = new TransformStream<string, number>({
        transform: (line, controller) => controller.enqueue(Number(line)),
      });
      const text = await textOf(path);
      await text.pipeThrough(lines()).pipeThrough(parsed).pipeTo(new WritableStream({ write: tally.number }));
      return tally.result;
    },
  };
}

async function textOfNumbers(count: string): Promise<string> {
  const tally = new Tally();
  const formatted = new TransformStream<number, string>({
    transform: (number, controller) => controller.enqueue(`${number}\n`),
  });
  const text = new ReadableStream(numberSource(Number(count))).pipeThrough(formatted);
  await text.pipeThrough(new TextEncoderStream()).pipeTo(new WritableStream({ write: tally.bytes }));
  return tally.result;
}

/** Lines and numbers by transforms written by hand. */
export const byHand: Pipelines = { ...pipelinesWith(lineStream), text: textOfNumbers };

/** Lines by the standard library of Deno. */
export async function withLineStream(): Promise<Pipelines> {
  const { TextLineStream } = await import(pathToFileURL(stdLineStream!).href);
  return pipelinesWith(() => new TextLineStream());
}
