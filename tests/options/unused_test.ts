import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { broadcast } from "../../lib/batch/mod.ts";
import { NumberFileWriter, openFileWritable, RotatingFileWritable } from "../../lib/files/mod.ts";
import { HttpClient } from "../../lib/http/mod.ts";
import { precompress } from "../../lib/precompress/mod.ts";
import { S3Bucket } from "../../lib/s3/mod.ts";
import { createUploadHandler, saveBody, saveForm } from "../../lib/upload/mod.ts";
import { inFolder } from "../support/folders.ts";

const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
const storage = new S3Bucket({ endpoint: "http://127.0.0.1:2", bucket: "films", credentials });
const source = (): ReadableStream<Uint8Array> => new Response("text").body!;
const form = (): Request => new Request("http://localhost/", { method: "POST", body: new FormData() });
const nothing = (): never => assert.fail("it is not called");

type Options = Readonly<Record<string, unknown>>;

/** Calls in a mode, and the options, each by itself, that have no effect in it. */
const modes: readonly (readonly [string, (options: Options, folder: string) => unknown, Options])[] = [
  ["saveBody() to a stream", (options) => saveBody(source(), new WritableStream(), options), {
    root: ".",
    overwrite: true,
    mode: 0o600,
    flush: true,
  }],
  ["saveBody() without decode", (options, folder) => saveBody(source(), join(folder, "a"), options), {
    maxDecodedBytes: 5,
    maxParts: 5,
    contentType: "text/plain",
  }],
  ["saveForm() without decode", (options, folder) => saveForm(form(), folder, options), { maxDecodedBytes: 5 }],
  ["createUploadHandler() without decode", (options, directory) => createUploadHandler({ directory, ...options }), {
    maxDecodedBytes: 5,
  }],
  ["createUploadHandler() for a bucket", (options) => createUploadHandler({ storage, ...options }), {
    mode: 0o600,
    flush: true,
  }],
  ["broadcast() that waits", (options) => broadcast(source(), options), { onDrop: nothing }],
  ["broadcast() that fails", (options) => broadcast(source(), { policy: "error", ...options }), { onDrop: nothing }],
  ["broadcast() of bytes", (options) => broadcast(source(), { type: "bytes", ...options }), { size: nothing }],
  ["HttpClient without a proxy", (options) => new HttpClient(options), { proxyTls: {} }],
  ["HttpClient for a Unix socket", (options) => new HttpClient({ socketPath: "/run/socket", ...options }), {
    lookup: nothing,
    allowAddress: "public",
  }],
  ["HttpClient that connects by a function", (options) => new HttpClient({ connect: nothing, ...options }), {
    lookup: nothing,
    allowAddress: "public",
  }],
  ["precompress() without a cache", (options, folder) => precompress(folder, options), {
    cacheMaxSize: 5,
    cacheMaxAge: 5,
  }],
  [
    "openFileWritable() with append",
    (options, folder) => openFileWritable(join(folder, "a"), { append: true, ...options }),
    {
      atomic: true,
      replace: false,
      temporary: "a",
    },
  ],
  ["openFileWritable() in place", (options, folder) => openFileWritable(join(folder, "a"), options), {
    temporary: "a",
  }],
  ...[RotatingFileWritable, NumberFileWriter].map((Series) =>
    [
      `${Series.name} without append`,
      (options: Options, directory: string) =>
        new Series({ directory: pathToFileURL(directory), maxFileSize: 9, ...options }),
      {
        interval: "day",
        maxFiles: 5,
        maxTotalSize: 5,
        maxAge: 5,
        compress: "gzip",
        retry: { attempts: 1 },
        onWarning: nothing,
      },
    ] as const
  ),
];

for (const [name, call, unused] of modes) {
  test(`${name} refuses options that have no effect on it, by their names`, () =>
    inFolder(async (folder) => {
      for (const [option, value] of Object.entries(unused)) {
        const isTold = (error: Error): boolean => error instanceof TypeError && error.message.includes(option);
        await assert.rejects(async () => await call({ [option]: value }, folder), isTold, option);
      }
    }));
}
