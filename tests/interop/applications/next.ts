/**
 * The streams of Next.js: its renderer's transforms, its responses on Node's server, the adapter of its edge runtime,
 * and that runtime's primitives. A whole application is not built: that needs its compiler and a minute.
 */
import { load } from "./packages.ts";
import { answerOf, type Application, fieldsOf, read, readWhole, settled, turns, withServer } from "./recorded.ts";

const react = await load("react");
const ReactDOMServer = await load("react-dom/server.edge");
const { AsyncLocalStorage } = await load("node:async_hooks");
Object.assign(globalThis, { AsyncLocalStorage }); // as Next's server does
const helper = await load("next/dist/server/stream-utils/node-web-streams-helper.js");
const { adapter } = await load("next/dist/server/web/adapter.js");
const { NextResponse } = await load("next/server.js");
const rendering = (await load("next/dist/server/render-result.js")).default;
const RenderResult = rendering.default ?? rendering; // Bun sees the module in it
const { pipeToNodeResponse } = await load("next/dist/server/pipe-readable.js");
const { trackStreamConsumed } = await load("next/dist/server/web/web-on-close.js");
const primitives = (await load("@edge-runtime/primitives")).default;

type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>;

const encoder = new TextEncoder();
const notes: string[] = [];

/** Returns a stream that gives its texts one after the other, each at its pull. */
function source(...texts: string[]): Bytes {
  return new ReadableStream({
    async pull(controller) {
      await Promise.resolve();
      const text = texts.shift();
      if (text === undefined) controller.close();
      else controller.enqueue(encoder.encode(text));
    },
    cancel: (reason) => void notes.push(`cancelled: ${reason}`),
  });
}

function failing(): Bytes {
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      if (count++ > 0) throw new Error("no more");
      controller.enqueue(encoder.encode("some"));
    },
  });
}

const html = (): Bytes => source("<html><head><title>t</title></head>", "<body><p>one</p>", "<p>two</p></body></html>");

/** Returns a page with a part that comes late. */
async function rendered(): Promise<Bytes> {
  const { createElement, Suspense, use } = react;
  const late = Promise.withResolvers<string>();
  const Late = (): object => createElement("p", null, use(late.promise));
  const part = createElement(Suspense, { fallback: "it waits" }, createElement(Late));
  const element = createElement(
    "html",
    null,
    createElement("head", null, createElement("title", null, "t")),
    createElement("body", null, part),
  );
  const stream = await helper.renderToInitialFizzStream({ ReactDOMServer, element });
  setTimeout(() => late.resolve("it came late"), 10);
  return stream;
}

const continued = async (options: object): Promise<Bytes> =>
  await helper.continueFizzStream(await rendered(), {
    inlinedDataStream: source("<script>1</script>", "<script>2</script>"),
    waitForAllReady: true,
    deploymentId: undefined,
    getServerInsertedHTML: () => Promise.resolve("<meta name=inserted>"),
    getServerInsertedMetadata: () => Promise.resolve(""),
    validateRootLayout: true,
    suffix: "<!-- suffix -->",
    ...options,
  });

/** Returns the response of a middleware in the edge runtime. */
// deno-lint-ignore no-explicit-any -- Next is not installed
async function byAdapter(handler: (request: any) => unknown, body?: Bytes): Promise<unknown> {
  const waiting: Promise<unknown>[] = [];
  const { response } = await adapter({
    handler: (request: unknown) => Promise.resolve(handler(request)),
    page: "/",
    request: {
      url: "http://localhost/",
      method: body ? "POST" : "GET",
      headers: {},
      nextConfig: {},
      body,
      signal: new AbortController().signal,
      waitUntil: (promise: Promise<unknown>) => void waiting.push(promise),
    },
  });
  const answer = await answerOf(response);
  return [answer, await Promise.all(waiting)];
}

const uppered = (stream: Bytes): Bytes =>
  stream.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TransformStream<string, string>({ transform: (text, to) => to.enqueue(text.toUpperCase()) }),
  ).pipeThrough(new TextEncoderStream());

/** Serves a result as Next's server does, and asks for it. */
// deno-lint-ignore no-explicit-any
const served = (send: (response: any) => Promise<unknown>): Promise<unknown> => {
  notes.length = 0;
  return withServer((_request, response) => {
    send(response).catch((error) => notes.push(String(error)));
  }, async (origin) => {
    const response = await fetch(origin);
    const { text, error } = await readWhole(response.body);
    await turns(20);
    // How much of a response that breaks off is read is the network's doing.
    return [response.status, error === undefined ? text : "it broke off", [...notes]];
  });
};

const { ReadableStream: EdgeReadableStream, TransformStream: EdgeTransformStream, Response: EdgeResponse } = primitives;

export const scenarios: Application["scenarios"] = {
  "chainStreams()": () => read(helper.chainStreams(source("a", "b"), source("c"), source(), source("d"))),
  "chainStreams() of one that fails": () => read(helper.chainStreams(source("a"), failing(), source("never"))),
  "streamToString()": () => helper.streamToString(source("a", "ü", "c")),
  "streamFromString()": () => read(helper.streamFromString("text")),
  "createBufferedTransformStream()": () => read(html().pipeThrough(helper.createBufferedTransformStream())),
  "createMoveSuffixStream()": () =>
    read(source("<body>", "one</body></html>", "more").pipeThrough(helper.createMoveSuffixStream())),
  "createHeadInsertionTransformStream()": () =>
    read(html().pipeThrough(helper.createHeadInsertionTransformStream(() => Promise.resolve("<meta>")))),
  "createDeferredSuffixStream()": () => read(html().pipeThrough(helper.createDeferredSuffixStream("<!-- s -->"))),
  "createRootLayoutValidatorStream()": () =>
    read(source("<p>none</p>").pipeThrough(helper.createRootLayoutValidatorStream())),
  "createFlightDataInjectionTransformStream()": async () =>
    (await readWhole(
      html().pipeThrough(helper.createFlightDataInjectionTransformStream(source("<i>1</i>", "<i>2</i>"), true)),
    )).text,
  "continueFizzStream(), all at once": async () => await readWhole(await continued({})),
  "continueFizzStream(), as it comes": async () => await readWhole(await continued({ waitForAllReady: false })),
  "continueFizzStream() without data": async () => await readWhole(await continued({ inlinedDataStream: undefined })),
  "RenderResult on Node's server": () =>
    served(async (response) => {
      const result = new RenderResult(await continued({}), { metadata: {}, contentType: "text/html" });
      await result.pipeToNodeResponse(response);
    }),
  "RenderResult of many streams on Node's server": () =>
    served(async (response) => {
      const result = new RenderResult(source("one "), { metadata: {}, contentType: "text/html" });
      result.push?.(source("two ", "three"));
      await result.pipeToNodeResponse(response);
    }),
  "RenderResult piped into a writable": async () => {
    const result = new RenderResult(source("one ", "two"), { metadata: {}, contentType: "text/html" });
    const written: string[] = [];
    const writable = new WritableStream<Uint8Array>({
      write: (chunk) => void written.push(new TextDecoder().decode(chunk)),
      close: () => void written.push("closed"),
    });
    await result.pipeTo(writable);
    return written;
  },
  "RenderResult as a text": async () =>
    await settled(
      new RenderResult(source("one ", "two"), { metadata: {}, contentType: "text/html" }).toUnchunkedString(true),
    ),
  "pipeToNodeResponse() of a stream that fails": () => served((response) => pipeToNodeResponse(failing(), response)),
  "trackStreamConsumed()": async () => {
    const done: string[] = [];
    const all = await read(trackStreamConsumed(source("a", "b"), () => void done.push("consumed")));
    await turns();
    return [all, done];
  },
  "trackStreamConsumed() of a stream that is left": async () => {
    const done: string[] = [];
    const reader = trackStreamConsumed(source("a", "b"), () => void done.push("consumed")).getReader();
    await reader.read();
    await settled(reader.cancel("gone"));
    await turns();
    return done;
  },
  "adapter(): a stream": () => byAdapter(() => new Response(source("a ", "stream"), { headers: { "x-own": "1" } })),
  "adapter(): NextResponse of a stream": () => byAdapter(() => new NextResponse(source("a ", "stream"))),
  "adapter(): NextResponse.json()": () => byAdapter(() => NextResponse.json({ a: 1 })),
  "adapter(): the body of the request": () => byAdapter(({ body }) => new Response(body), source("one ", "two")),
  "adapter(): the body of the request, transformed": () =>
    byAdapter(({ body }) => new Response(uppered(body)), source("one ", "two")),
  "adapter(): the text of the request": () =>
    byAdapter(async (request) => new Response(await request.text()), source("one ", "two")),
  "primitives: a stream in a Response": async () => {
    const response = new EdgeResponse(
      new EdgeReadableStream({
        start(controller: ReadableStreamDefaultController<Uint8Array>) {
          controller.enqueue(encoder.encode("text"));
          controller.close();
        },
      }),
    );
    return [response.status, fieldsOf(response.headers), await response.text()];
  },
  "primitives: through a transform": async () => {
    const stream = new EdgeResponse("text").body.pipeThrough(
      new EdgeTransformStream({
        transform: (chunk: Uint8Array, to: TransformStreamDefaultController<Uint8Array>) => to.enqueue(chunk),
      }),
    );
    return await new EdgeResponse(stream).text();
  },
  "primitives: a stream of the globals in their Response": async () =>
    await settled((async () => await new EdgeResponse(source("one ", "two")).text())()),
  "primitives: their stream in a Response of the globals": async () =>
    await settled((async () => await new Response(new EdgeResponse("text").body).text())()),
  "primitives: a response that is cloned": async () => {
    const response = new EdgeResponse("text");
    return [await response.clone().text(), await response.text()];
  },
  "primitives: fetch()": () =>
    withServer((request, response) => void request.pipe(response), async (origin) => {
      const response = await primitives.fetch(origin, { method: "POST", body: "sent" });
      return [response.status, await response.text()];
    }),
};
