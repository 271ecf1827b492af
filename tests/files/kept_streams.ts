/**
 * Reads the file that the first argument names in each of the ways that the others name, slowly and with much garbage
 * collected in between, holding no more of the stream than that takes; prints how many bytes there were.
 */
import { statSync } from "node:fs";
import process from "node:process";
import type * as Files from "../../lib/files/mod.ts";
import { faceOf } from "../support/built_faces.ts";

const { openFileReadable }: typeof Files = await import(faceOf("files"));

const [file, ...names] = process.argv.slice(2);

interface Reader {
  read(): Promise<ReadableStreamReadResult<Uint8Array>>;
}

const { gc, Bun } = globalThis as unknown as { gc?: () => void; Bun?: { gc(force: boolean): void } };
const collect = Bun ? () => Bun.gc(true) : gc!;

async function collected(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function lengthOf(reader: Reader): Promise<number> {
  let length = 0;
  for (;;) {
    await collected();
    const { done, value } = await reader.read();
    if (done) return length;
    length += value.length;
  }
}

/** Returns a slow sink that counts its chunks. */
function counting(count: { length: number }): WritableStream<Uint8Array> {
  return new WritableStream({
    async write(chunk): Promise<void> {
      await collected();
      count.length += chunk.length;
    },
  });
}

const ways: Readonly<Record<string, () => Promise<number>>> = {
  reader: async () => await lengthOf((await openFileReadable(file)).getReader()),
  "BYOB reader": async () => {
    const reader = (await openFileReadable(file)).getReader({ mode: "byob" });
    return await lengthOf({ read: () => reader.read(new Uint8Array(300_000)) as ReturnType<Reader["read"]> });
  },
  "reader until an abort": async () => {
    const open: (path: string, options: unknown) => ReturnType<typeof openFileReadable> = openFileReadable;
    const control = new AbortController();
    const reader = (await open(file, { signal: control.signal })).getReader();
    await reader.read();
    await collected();
    control.abort();
    return await reader.closed.then(() => 0, () => statSync(file).size);
  },
  iterator: async () => {
    let length = 0;
    for await (const chunk of await openFileReadable(file)) {
      length += chunk.length;
      await collected();
    }
    return length;
  },
  "branch of a tee": async () => await lengthOf((await openFileReadable(file)).tee()[1].getReader()),
  response: async () => await lengthOf(new Response(await openFileReadable(file)).body!.getReader()),
  "pipeTo()": async () => {
    const count = { length: 0 };
    await (await openFileReadable(file)).pipeTo(counting(count));
    return count.length;
  },
  "pipeThrough()": async () =>
    await lengthOf((await openFileReadable(file)).pipeThrough(new TransformStream()).getReader()),
  "pipe nobody waits for": async () => {
    const count = { length: 0 };
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    void (await openFileReadable(file)).pipeTo(writable);
    await readable.pipeTo(counting(count));
    return count.length;
  },
};

for (const name of names) console.log(`${name}: ${await ways[name]()}`);
