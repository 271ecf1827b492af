import type { ServerResponse } from "node:http";
import { Readable, Transform } from "node:stream";
import { type Implementation, loadImplementation } from "../streams/implementation.ts";
import { CHUNKS, closing, encode, hydration, renderChunk } from "./page.ts";

/** Renders the page into the response; aborted, if the visitor leaves. */
export type Render = (response: ServerResponse, signal: AbortSignal) => Promise<void>;

/** The renderer of that name: `node:stream`, or an implementation of web streams. */
export async function loadRenderer(name: string): Promise<Render> {
  if (name === "node:stream") return renderByNodeStreams;
  const classes = await loadImplementation(name);
  return (response, signal) => renderByWebStreams(classes, response, signal);
}

async function renderByWebStreams(
  { ReadableStream, WritableStream, TransformStream, pipeTo }: Implementation,
  response: ServerResponse,
  signal: AbortSignal,
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
    },
  });
  const bytes = page.pipeThrough(stage(hydration)).pipeThrough(stage(closing)).pipeThrough(
    new TransformStream<string, Uint8Array>({ transform: (text, controller) => controller.enqueue(encode(text)) }),
  );
  const sink = new WritableStream<Uint8Array>({
    write(chunk) {
      return response.write(chunk) ? undefined : new Promise((drained) => response.once("drain", () => drained()));
    },
    close: () => void response.end(),
  });
  await pipeTo(bytes, sink, { signal });
}

/** By `pipe()`, as fast servers do: `pipeline()` with a signal takes 1.5 times as long for a page. */
function renderByNodeStreams(response: ServerResponse, signal: AbortSignal): Promise<void> {
  const stage = (flush: () => string): Transform =>
    new Transform({
      objectMode: true,
      transform: (text, _, done) => done(null, text),
      flush: (done) => done(null, flush()),
    });
  let rendered = 0;
  const page = new Readable({
    objectMode: true,
    read() {
      this.push(renderChunk(rendered));
      if (++rendered === CHUNKS) this.push(null);
    },
  });
  const encoding = new Transform({ objectMode: true, transform: (text, _, done) => done(null, encode(text)) });
  const stages = [stage(hydration), stage(closing), encoding];
  signal.addEventListener("abort", () => [page, ...stages].forEach((stream) => stream.destroy()));
  return new Promise((sent, failed) => {
    for (const stream of [page, ...stages]) stream.once("error", failed);
    stages.reduce<Readable>((source, next) => source.pipe(next), page).pipe(response.once("finish", sent));
  });
}
