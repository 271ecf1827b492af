import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { PassThrough } from "node:stream";
import { coalesceBytes } from "../../../lib/batch/mod.ts";
import { CompressionStream } from "../../../lib/codecs/mod.ts";
import { fromNodeReadable, fromNodeWritable } from "../../../lib/node/mod.ts";
import { fromNative, pipeThrough, pipeTo, TransformStream } from "../../../lib/streams/mod.ts";
import { runtime } from "../../support/runtime.ts";
import { until } from "../../support/waits.ts";
import { withHttpServer } from "../../node/loopback.ts";
import { serveNatively } from "../../static/native_server.ts";
import { makePage, type Page } from "./page.ts";
import { nodeRenderers, renderers } from "./react.ts";
import { ask, readUntil, textOf, visitWhileItWaits } from "./visit.ts";

type Bytes = ReadableStream<Uint8Array>;

/** Renders a page into a response; resolves when all is sent. */
type Send = (page: Page, response: ServerResponse, onError: (error: unknown) => void) => Promise<void>;

const passOn = (): TransformStream<Uint8Array, Uint8Array> => new TransformStream();

const byWebStreams =
  (through: (page: Bytes, response: ServerResponse) => Bytes): Send => async (page, response, onError) => {
    const { renderToReadableStream } = await renderers();
    const rendered = await renderToReadableStream(page.element, { onError });
    await pipeTo(through(rendered, response), fromNodeWritable<Uint8Array>(response));
  };

const compressed = (format: "zstd" | "brotli" | "gzip", coding: string): Send =>
  byWebStreams((page, response) => {
    response.setHeader("content-encoding", coding);
    const joined = pipeThrough(page, coalesceBytes({ size: 16_384 }));
    return joined.pipeThrough(new CompressionStream(format, { level: 4, flush: true }));
  });

/** React's streams for Node: it writes to a stream of Node's, which is read as one of this package. */
const byNodeStreams =
  (through: (page: Bytes, response: ServerResponse) => Bytes): Send => async (page, response, onError) => {
    const { renderToPipeableStream } = await nodeRenderers();
    const between = new PassThrough();
    await new Promise<void>((onShellReady, onShellError) => {
      const { pipe } = renderToPipeableStream(page.element, {
        onShellReady: () => {
          pipe(between);
          onShellReady();
        },
        onShellError,
        onError,
      });
    });
    await pipeTo(through(fromNodeReadable<Uint8Array>(between), response), fromNodeWritable<Uint8Array>(response));
  };

const ways: Readonly<Record<string, Send>> = {
  "renderToReadableStream() into a response": byWebStreams((page) => page),
  "renderToReadableStream() through a TransformStream": byWebStreams((page) => page.pipeThrough(passOn())),
  "renderToReadableStream() by fromNative()": byWebStreams((page) => fromNative(page).pipeThrough(passOn())),
  "renderToReadableStream() compressed by zstd": compressed("zstd", "zstd"),
  "renderToReadableStream() compressed by brotli": compressed("brotli", "br"),
  "renderToReadableStream() compressed by gzip": compressed("gzip", "gzip"),
  "renderToPipeableStream() through fromNodeReadable()": byNodeStreams((page) => page.pipeThrough(passOn())),
  "renderToPipeableStream() compressed": byNodeStreams((page, response) => {
    response.setHeader("content-encoding", "gzip");
    return page.pipeThrough(new CompressionStream("gzip", { level: 4, flush: true }));
  }),
};

async function shellComesFirst(send: Send): Promise<void> {
  const page = makePage();
  const errors: unknown[] = [];
  await withHttpServer((response) => {
    send(page, response, (error) => void errors.push(error)).catch((error) => void errors.push(error));
  }, (port) => visitWhileItWaits(port, page.release));
  assert.deepEqual(errors, []);
}

async function renderingStops(send: Send): Promise<void> {
  const page = makePage();
  const errors: unknown[] = [];
  let isOver = false;
  await withHttpServer((response) => {
    send(page, response, (error) => void errors.push(error)).catch(() => isOver = true);
  }, async (port) => {
    const response = await ask(port);
    response.on("error", () => {});
    await readUntil("it waits", textOf(response)).finally(() => response.destroy());
    await until(() => isOver, "the end of the pipe");
    await until(() => errors.length > 0, "the end of rendering");
  });
  page.release();
}

async function errorIsTold(send: Send): Promise<void> {
  const page = makePage();
  const errors: unknown[] = [];
  await withHttpServer((response) => {
    send(page, response, (error) => void errors.push(error)).catch((error) => void errors.push(["pipe", error]));
  }, async (port) => {
    const text = textOf(await ask(port));
    const shell = await readUntil("it waits", text);
    page.fail();
    let all = shell;
    for (let rest = await text.next(); !rest.done; rest = await text.next()) all += rest.value;
    assert.match(all, /<\/html>/);
    assert.ok(!all.includes("it came late"));
  });
  assert.deepEqual(errors.map(String), ["Error: no data"]);
}

/** Sends a page by the runtime's own server: a Response with a stream of this package. */
async function fromResponse(): Promise<void> {
  const page = makePage();
  const { renderToReadableStream } = await renderers();
  const server = serveNatively(async () => {
    const rendered = await renderToReadableStream(page.element, {});
    const small = rendered.pipeThrough(passOn()).pipeThrough(new CompressionStream("gzip", { level: 4, flush: true }));
    return new Response(small, { headers: { "content-encoding": "gzip" } });
  });
  try {
    await visitWhileItWaits(server.port, page.release);
  } finally {
    await server.close();
  }
}

/** Tests of React's pages with this package's streams, by name. */
export const cases: Readonly<Record<string, () => Promise<void>>> = {
  ...Object.fromEntries(
    Object.entries(ways).flatMap(([name, send]) => [
      [`${name}: the shell comes before what it waits for`, () => shellComesFirst(send)],
      [`${name}: rendering stops when the visitor leaves`, () => renderingStops(send)],
      [`${name}: an error behind the shell ends the page`, () => errorIsTold(send)],
    ]),
  ),
  ...(runtime === "node" ? {} : { "in a Response of the runtime's server: the shell comes first": fromResponse }),
};
