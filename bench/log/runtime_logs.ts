import { join } from "node:path";
import type { LogSink } from "./log_sink.ts";

/** The parts of Bun and Deno that are used here. */
interface FileSink {
  write(line: string): number | Promise<number>;
  end(): number | Promise<number>;
}
interface FsFile {
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}
declare const Bun: { file(path: string): { writer(options: { highWaterMark: number }): FileSink } };
declare const Deno: { open(path: string, options: { write: true; create: true }): Promise<FsFile> };

function pathOf(directory: string, number: number): string {
  return join(directory, `app-${String(number).padStart(5, "0")}.log`);
}

/** Returns a FileSink of Bun for each file. */
export function openFileSink(directory: string, maxFileSize: number): Promise<LogSink> {
  let number = 0;
  let room = 0;
  let sink: FileSink | undefined;
  return Promise.resolve({
    write(line): Promise<unknown> | undefined {
      const ended = room < line.length ? sink?.end() : undefined;
      if (room < line.length) {
        sink = Bun.file(pathOf(directory, ++number)).writer({ highWaterMark: 256 * 1024 });
        room = maxFileSize;
      }
      room -= line.length;
      const written = sink!.write(line);
      return ended instanceof Promise || written instanceof Promise ? Promise.all([ended, written]) : undefined;
    },
    end: async () => void await sink?.end(),
  });
}

/** Returns a FsFile of Deno for each file: the lines of 64 KiB joined by hand, as it has no buffer. */
export function openFsFile(directory: string, maxFileSize: number): Promise<LogSink> {
  const SIZE = 64 * 1024;
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(SIZE);
  let number = 0;
  let room = 0;
  let length = 0;
  let file: FsFile | undefined;
  const flush = async (): Promise<void> => {
    for (let at = 0; at < length;) at += await file!.write(buffer.subarray(at, length));
    length = 0;
  };
  const add = (line: string): void => {
    length += encoder.encodeInto(line, buffer.subarray(length)).written;
    room -= line.length;
  };
  return Promise.resolve({
    write(line): Promise<unknown> | undefined {
      if (room >= line.length && length + line.length <= SIZE) return void add(line);
      return (async () => {
        if (length > 0) await flush();
        if (room < line.length) {
          file?.close();
          file = await Deno.open(pathOf(directory, ++number), { write: true, create: true });
          room = maxFileSize;
        }
        add(line);
      })();
    },
    async end(): Promise<void> {
      if (length > 0) await flush();
      file?.close();
    },
  });
}
