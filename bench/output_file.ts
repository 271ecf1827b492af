import { type FileHandle, open } from "node:fs/promises";

/** A writer of the bytes of one file. */
export interface OutputFile {
  /** Writes all of `bytes`, which must not change until the promise settles. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Opens the file at a path, and replaces its content. */
export type OpenOutput = (path: string) => Promise<OutputFile>;

/** Bun's and Deno's file APIs, as far as benchmarks use them. */
interface RuntimeFiles {
  readonly Bun: {
    file(path: string): {
      stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
      writer(): {
        write(bytes: Uint8Array): number;
        flush(): number | Promise<number>;
        end(): number | Promise<number>;
      };
    };
  };
  readonly Deno: {
    open(path: string, options?: { write: boolean; create: boolean; truncate: boolean }): Promise<{
      readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
      write(bytes: Uint8Array): Promise<number>;
      close(): void;
    }>;
  };
}

const runtime = globalThis as unknown as RuntimeFiles;
/** Bun's global object; undefined elsewhere. */
export const Bun: RuntimeFiles["Bun"] = runtime.Bun;
/** Deno's global object; undefined elsewhere. */
export const Deno: RuntimeFiles["Deno"] = runtime.Deno;

/** Opens a file with `node:fs`. */
export async function openWithNode(path: string): Promise<OutputFile> {
  const handle: FileHandle = await open(path, "w");
  return {
    async write(bytes): Promise<void> {
      let start = 0;
      while (start < bytes.length) start += (await handle.write(bytes, start)).bytesWritten;
    },
    close: () => handle.close(),
  };
}

/** Opens a file as Bun does. */
export function openFileSink(path: string): Promise<OutputFile> {
  const sink = Bun.file(path).writer();
  return Promise.resolve({
    async write(bytes): Promise<void> {
      sink.write(bytes);
      await sink.flush();
    },
    async close(): Promise<void> {
      await sink.end();
    },
  });
}

/** Opens a file as Deno does. */
export async function openFsFile(path: string): Promise<OutputFile> {
  const file = await Deno.open(path, { write: true, create: true, truncate: true });
  return {
    async write(bytes): Promise<void> {
      let start = 0;
      while (start < bytes.length) start += await file.write(bytes.subarray(start));
    },
    close: () => Promise.resolve(file.close()),
  };
}
