import type { ServerResponse } from "node:http";
import { Readable, Transform } from "node:stream";
import { type Implementation, loadImplementation } from "../streams/implementation.ts";
import { CHUNKS, closing, encode, hydration, PAUSE, PAUSE_AFTER, renderChunk } from "./page.ts";

/** The destination of a page. */
export interface Target {
  readonly response: ServerResponse;
  /** Aborted if the visitor leaves. */
  readonly signal: AbortSignal;
  /** Whether the page's source waits in the middle of the page. */
  readonly pauses: boolean;
}

/** Renders the page into the response. */
export type Render = (target: Target) => Promise<void>;

/**
 * The renderer of that name: `node:stream`, or an implementation of web streams. With the suffix `, batched`, web
 * streams write by `fromNodeWritable()`; with `, corked`, `node:stream` delays its writes in the same way. With the
 * suffix `, strings`, the third stage writes strings, which the response converts to bytes.
 */
export async function loadRenderer(name: string): Promise<Render> {
  const [streams, ...traits] = name.split(", ");
  const last: Encode = traits.includes("strings") ? (text) => text : encode;
  if (streams === "node:stream") {
    const pipe = traits.includes("corked") ? corked : plainly;
    return (target) => renderByNodeStreams(target, last, pipe);
  }
  const classes = await loadImplementation(streams);
  const toSink: ToSink = traits.includes("batched")
    ? (await import("../../lib/node/mod.ts")).fromNodeWritable
    : (response) => plainSink(classes, response);
  return (target) => renderByWebStreams(classes, toSink(target.response), last, target);
}

/** The third stage: encodes a chunk of text. */
type Encode = (text: string) => string | Uint8Array;

type ToSink = (response: ServerResponse) => WritableStream<string | Uint8Array>;

/** Returns a sink that writes chunks one by one, as usual. */
function plainSink(
  { WritableStream }: Implementation,
  response: ServerResponse,
): WritableStream<string | Uint8Array> {
  return new WritableStream<string | Uint8Array>({
    write(chunk) {
      return response.write(chunk) ? undefined : new Promise((drained) => response.once("drain", () => drained()));
    },
    close: () => void response.end(),
  });
}

async function renderByWebStreams(
  { ReadableStream, TransformStream, pipeTo }: Implementation,
  sink: WritableStream<string | Uint8Array>,
  encode: Encode,
  { signal, pauses }: Target,
): Promise<void> {
  const stage = (flush: () => string): TransformStream<string, string> =>
    new TransformStream({
      transform: (text, controller) => controller.enqueue(text),
      flush: (controller) => controller.enqueue(flush()),
    });
  let rendered = 0;
  const page = new ReadableStream<string>({
    pull(controller) {
      controller.enqueue(renderChunk(rendered));
      if (++rendered === CHUNKS) controller.close();
      return pauses && rendered === PAUSE_AFTER ? new Promise((goOn) => setTimeout(goOn, PAUSE)) : undefined;
    },
  });
  const bytes = page.pipeThrough(stage(hydration)).pipeThrough(stage(closing)).pipeThrough(
    new TransformStream<string, string | Uint8Array>({
      transform: (text, controller) => controller.enqueue(encode(text)),
    }),
  );
  await pipeTo(bytes, sink, { signal });
}

/** Renders by `pipe()`, as fast servers do: `pipeline()` with a signal takes 1.5 times as long for a page. */
function renderByNodeStreams(
  { response, signal, pauses }: Target,
  encode: Encode,
  pipe: (source: Readable, response: ServerResponse) => void,
): Promise<void> {
  const stage = (flush: () => string): Transform =>
    new Transform({
      objectMode: true,
      transform: (text, _, done) => done(null, text),
      flush: (done) => done(null, flush()),
    });
  let rendered = 0;
  const next = (page: Readable): void => {
    page.push(renderChunk(rendered));
    if (++rendered === CHUNKS) page.push(null);
  };
  const page = new Readable({
    objectMode: true,
    read() {
      if (pauses && rendered === PAUSE_AFTER) setTimeout(() => next(this), PAUSE);
      else next(this);
    },
  });
  const encoding = new Transform({ objectMode: true, transform: (text, _, done) => done(null, encode(text)) });
  const stages = [stage(hydration), stage(closing), encoding];
  signal.addEventListener("abort", () => [page, ...stages].forEach((stream) => stream.destroy()));
  return new Promise((sent, failed) => {
    for (const stream of [page, ...stages]) stream.once("error", failed);
    pipe(stages.reduce<Readable>((source, next) => source.pipe(next), page), response.once("finish", sent));
  });
}

function plainly(source: Readable, response: ServerResponse): void {
  source.pipe(response);
}

/** Corks the response until the event loop's turn ends, as this package's batches do. */
function corked(source: Readable, response: ServerResponse): void {
  source.prependListener("data", () => {
    if (response.writableCorked > 0) return;
    response.cork();
    setImmediate(() => response.uncork());
  });
  source.pipe(response);
}
