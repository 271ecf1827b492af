import * as fs from "node:fs";
import { type FileHandle, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { sameAsNative } from "./drop_in_comparison.ts";
import type { StreamClasses } from "./drop_in_implementations.ts";
import { type Bytes, watched } from "./drop_in_streams.ts";

interface DenoFile {
  readonly readable: ReadableStream<Bytes>;
  readonly writable: WritableStream<Bytes>;
}
const { Bun, Deno } = globalThis as unknown as {
  Bun?: {
    file(path: string): { stream(): ReadableStream<Bytes> };
    write(path: string, from: Response): Promise<number>;
  };
  Deno?: { open(path: string, options?: { write: boolean; create: boolean }): Promise<DenoFile> };
};

const content = Uint8Array.from({ length: 300_000 }, (_, i) => i * 7 + (i >> 8));
let folder = "";
let path = "";
const opened: FileHandle[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-drop-in-"));
  path = join(folder, "content");
  await writeFile(path, content);
});

after(async () => {
  for (const file of opened) await file.close();
  await rm(folder, { recursive: true });
});

/** The runtimes' own sources of bytes. */
const sources: Readonly<Record<string, { skip: string | false; open: () => Promise<ReadableStream<Bytes>> }>> = {
  "Blob.stream()": { skip: false, open: () => Promise.resolve(new Blob([content]).stream()) },
  "fs.openAsBlob()": {
    skip: "openAsBlob" in fs ? false : "this runtime has no fs.openAsBlob()",
    open: async () => (await fs.openAsBlob(path)).stream() as ReadableStream<Bytes>,
  },
  "filehandle.readableWebStream()": {
    skip: false,
    open: async () => {
      const file = await open(path);
      opened.push(file);
      return file.readableWebStream() as ReadableStream<Bytes>;
    },
  },
  "Bun.file().stream()": {
    skip: Bun ? false : "only Bun has it",
    open: () => Promise.resolve(Bun!.file(path).stream()),
  },
  "Deno.open().readable": {
    skip: Deno ? false : "only Deno has it",
    open: async () => (await Deno!.open(path)).readable,
  },
};

/** A check of streamed content that does not keep it. */
class Check {
  #length = 0;
  #same = true;

  add(chunk: Uint8Array): void {
    this.#same &&= Buffer.compare(chunk, content.subarray(this.#length, this.#length + chunk.length)) === 0;
    this.#length += chunk.length;
  }

  get result(): string {
    return this.#same && this.#length === content.length ? "whole" : `${this.#length} bytes, same: ${this.#same}`;
  }
}

function checked({ TransformStream }: StreamClasses, check: Check): TransformStream<Bytes, Bytes> {
  return new TransformStream({
    transform(chunk, controller): void {
      check.add(chunk);
      controller.enqueue(chunk);
    },
  });
}

for (const [name, { skip, open }] of Object.entries(sources)) {
  sameAsNative(`${name} is piped into a writable`, async ({ WritableStream }) => {
    const check = new Check();
    await (await open()).pipeTo(new WritableStream({ write: (chunk) => check.add(chunk) }));
    return check.result;
  }, { skip, expected: "whole" });

  sameAsNative(`${name} is piped through a transform into a Response`, async (streams) => {
    const check = new Check();
    const body = new Response((await open()).pipeThrough(checked(streams, check)));
    return [(await body.bytes()).length, check.result];
  }, { skip, expected: [content.length, "whole"] });

  sameAsNative(`${name} is cancelled when the writable fails`, async ({ WritableStream }) => {
    const source = await open();
    const reason = new RangeError("sink broke");
    const write = (): never => {
      throw reason;
    };
    const error = await source.pipeTo(new WritableStream({ write })).catch((error) => error);
    return [error === reason, source.locked];
  }, { skip, expected: [true, false] });
}

sameAsNative("Deno.open().writable takes what a stream pipes into it", async (streams) => {
  const target = join(folder, "deno");
  const { writable } = await Deno!.open(target, { write: true, create: true });
  await watched(streams, [content.slice(0, 1000), content.slice(1000)]).stream.pipeTo(writable);
  return Buffer.compare(await readFile(target), content);
}, { skip: Deno ? false : "only Deno has it", expected: 0 });

sameAsNative("Bun.write() takes a Response of a stream", async (streams) => {
  const target = join(folder, "bun");
  await Bun!.write(target, new Response(watched(streams, [content.slice(0, 1000), content.slice(1000)]).stream));
  return Buffer.compare(await readFile(target), content);
}, { skip: Bun ? false : "only Bun has it", expected: 0 });

sameAsNative("fs.writeFile() takes a stream as an async iterable", async (streams) => {
  const target = join(folder, "iterated");
  await writeFile(target, watched(streams, [content.slice(0, 1000), content.slice(1000)]).stream);
  return Buffer.compare(await readFile(target), content);
});
