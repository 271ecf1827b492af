import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { LogSink } from "./log_sink.ts";

/** The part of a stream of node:stream, or of sonic-boom, that is used here. */
interface LineStream {
  write(line: string): boolean;
  end(): unknown;
  once(name: string, listener: (...args: unknown[]) => void): unknown;
}

function pathOf(directory: string, number: number): string {
  return join(directory, `app-${String(number).padStart(5, "0")}.log`);
}

function sinkOf(stream: LineStream, ending: string): LogSink {
  return {
    write: (line) => stream.write(line) ? undefined : new Promise((resolve) => stream.once("drain", resolve)),
    async end(): Promise<void> {
      const ended = new Promise((resolve) => stream.once(ending, resolve));
      stream.end();
      await ended;
    },
  };
}

/** sonic-boom as pino's docs recommend for asynchronous logs, reopened when a file is full. */
export async function openSonicBoom(directory: string, maxFileSize: number): Promise<LogSink> {
  // The default export is the class, although its types say otherwise.
  const SonicBoom = (await import("sonic-boom")).default as unknown as typeof import("sonic-boom").SonicBoom;
  let number = 1;
  let room = maxFileSize;
  const boom = new SonicBoom({ dest: pathOf(directory, number), minLength: 4096, sync: false });
  await once(boom, "ready");
  const sink = sinkOf(boom as unknown as LineStream, "close");
  return {
    ...sink,
    write(line): Promise<unknown> | undefined {
      const wait = sink.write(line);
      room -= line.length; // ASCII
      if (room >= line.length) return wait;
      room = maxFileSize;
      return Promise.resolve(wait).then(async () => {
        await new Promise<void>((resolve, reject) => boom.flush((error) => error ? reject(error) : resolve()));
        boom.reopen(pathOf(directory, ++number));
        await once(boom, "ready");
      });
    },
  };
}

/** pino-roll, which rotates a sonic-boom by itself, in this thread. */
export async function openPinoRoll(directory: string, maxFileSize: number): Promise<LogSink> {
  const name = "pino-roll"; // has no types
  const { default: build } = await import(name);
  const size = `${Math.floor(maxFileSize / 1024)}k`;
  const boom = await build({ file: join(directory, "app"), size, extension: ".log", minLength: 4096, sync: false });
  return sinkOf(boom, "close");
}

/** rotating-file-stream. */
export async function openRotatingFileStream(directory: string, maxFileSize: number): Promise<LogSink> {
  const { createStream } = await import("rotating-file-stream");
  const name = (_time: unknown, index?: number): string => index ? `app.${index}.log` : "app.log";
  const stream = createStream((time, index) => name(time, index), {
    path: directory,
    size: `${Math.floor(maxFileSize / 1000)}K`,
  });
  return sinkOf(stream as unknown as LineStream, "finish");
}

/** Returns a `fs.createWriteStream()` for each file. */
export function openWriteStream(directory: string, maxFileSize: number): Promise<LogSink> {
  let number = 0;
  let room = 0;
  let stream: LogSink | undefined;
  return Promise.resolve({
    write(line): Promise<unknown> | undefined {
      if (room >= line.length) {
        room -= line.length;
        return stream!.write(line);
      }
      const ended = stream?.end();
      room = maxFileSize - line.length;
      const next = sinkOf(createWriteStream(pathOf(directory, ++number)) as unknown as LineStream, "finish");
      stream = next;
      const wait = next.write(line);
      return Promise.all([ended, wait]);
    },
    end: async () => await stream?.end(),
  });
}
