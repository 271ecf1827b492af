import process from "node:process";
import { type Element, react } from "../../../tests/interop/react/react.ts";
import type { NodeHandler, Program, Settings, WebHandler } from "./program.ts";
import { endOf, HEAD_TAG, insertHead, LAST } from "./stages.ts";

const PARAGRAPHS = 26;
const LATE = "it came late";
const FIELDS = { "content-type": "text/html; charset=utf-8" };

const { createElement, Suspense, use } = react;

/** React has no types without another package: a name that is not known beforehand is not looked up. */
const load = async <T>(name: string): Promise<T> => await import(name) as T;

interface WebRenderer {
  renderToReadableStream(element: Element): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

interface NodeRenderer {
  renderToPipeableStream(element: Element, options: { onShellReady(): void }): {
    pipe<Writable extends NodeJS.WritableStream>(writable: Writable): Writable;
  };
}

function paragraph(index: number): string {
  return `Paragraph ${index}: the mill stands by the race, and its wheel turns ${index * 7} times an hour.`;
}

/** Returns a page of 26 paragraphs; the part in its Suspense boundary comes a turn of the event loop later. */
function page(): Element {
  const data = new Promise<string>((resolve) => setImmediate(resolve, LATE));
  const Late = (): Element => createElement("p", null, use(data));
  const Paragraph = ({ index }: { index: number }): Element =>
    createElement("p", { className: "text", id: `p-${index}` }, paragraph(index));
  const paragraphs = Array.from(
    { length: PARAGRAPHS },
    (_, index) => createElement("section", { key: index }, createElement(Paragraph, { index })),
  );
  const late = createElement(Suspense, { fallback: createElement("p", null, "it waits") }, createElement(Late, null));
  const head = createElement("head", null, createElement("title", null, "A page of 26 paragraphs"));
  const body = createElement("body", null, createElement("main", null, paragraphs), late);
  return createElement("html", { lang: "en" }, head, body);
}

async function web({ isDirect }: Settings): Promise<WebHandler> {
  // The renderer for Node and Deno; that for Bun makes streams that ours cannot be, so there it is the one for the edge.
  const { bun } = process.versions;
  const { renderToReadableStream } = await load<WebRenderer>(
    bun && !isDirect ? "react-dom/server.edge" : "react-dom/server",
  );
  return async () => {
    const rendered = await renderToReadableStream(page());
    let bytes = 0;
    const head = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => controller.enqueue(insertHead(chunk)),
    });
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        controller.enqueue(chunk);
      },
    });
    const end = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => controller.enqueue(chunk as Uint8Array<ArrayBuffer>),
      flush: (controller) => controller.enqueue(endOf(bytes)),
    });
    return new Response(rendered.pipeThrough(head).pipeThrough(count).pipeThrough(end), { headers: FIELDS });
  };
}

async function node(): Promise<NodeHandler> {
  const { Transform } = await import("node:stream");
  const { renderToPipeableStream } = await load<NodeRenderer>("react-dom/server.node");
  return (_request, response) => {
    let bytes = 0;
    const head = new Transform({ transform: (chunk, _, done) => done(null, insertHead(chunk)) });
    const count = new Transform({
      transform(chunk, _, done) {
        bytes += chunk.byteLength;
        done(null, chunk);
      },
    });
    const end = new Transform({
      transform: (chunk, _, done) => done(null, chunk),
      flush: (done) => done(null, endOf(bytes)),
    });
    const { pipe } = renderToPipeableStream(page(), {
      onShellReady: () => void pipe(head).pipe(count).pipe(end).pipe(response.writeHead(200, FIELDS)),
    });
  };
}

/** A page that React renders, through three transforms. */
export const reactPage: Program = {
  title: "React page",
  ask: { method: "GET", body: 0 },
  isRight: ({ body }) =>
    Array.from({ length: PARAGRAPHS }, (_, index) => index).every((index) => body.includes(paragraph(index))) &&
    body.includes(`${HEAD_TAG}</head>`) && body.includes(LATE) && LAST.test(body),
  web,
  node,
};
