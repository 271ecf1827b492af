import { Buffer } from "node:buffer";
import { createWriteStream } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Store } from "./listening.ts";

/** The usual ways to store a request of `node:http`, by name. */
export const nodeStores: Readonly<Record<string, Store<IncomingMessage>>> = {
  async "buffered, Buffer.concat"(request, path): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    await writeFile(path, Buffer.concat(chunks));
  },
  "pipeline, createWriteStream": (request, path) => pipeline(request, createWriteStream(path)),
  "Readable.toWeb, pipeTo": (request, path) => bytesOf(request).pipeTo(fileSink(path)),
  "writeFile(path, request)": (request, path) => writeFile(path, request),
  async "for await, FileHandle"(request, path): Promise<void> {
    const file = await open(path, "w");
    for await (const chunk of request) await file.write(chunk);
    await file.close();
  },
};

/** The usual ways to store a `Request` on Node, by name. */
export const nodeFetchStores: Readonly<Record<string, Store<Request>>> = {
  "fetch: buffered, arrayBuffer": async (request, path) =>
    await writeFile(path, new Uint8Array(await request.arrayBuffer())),
  "fetch: body.pipeTo": (request, path) => request.body!.pipeTo(fileSink(path)),
  "fetch: writeFile(path, body)": (request, path) => writeFile(path, request.body!),
  "fetch: pipeline, Readable.fromWeb": (request, path) =>
    pipeline(Readable.fromWeb(request.body as never), createWriteStream(path)),
};

function bytesOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  return Readable.toWeb(request) as unknown as ReadableStream<Uint8Array>;
}

function fileSink(path: string): WritableStream<Uint8Array> {
  return Writable.toWeb(createWriteStream(path)) as WritableStream<Uint8Array>;
}
