import { PassThrough, Readable } from "node:stream";
import { load } from "./packages.ts";
import { answerOf, type Application, read, readWhole, settled, turns, withServer } from "./recorded.ts";

const react = await load("react");
const edge = await load("react-dom/server.edge");
const node = await load("react-dom/server.node");
const prerendering = await load("react-dom/static.edge");
const { createElement, Suspense, use } = react;

interface Page {
  readonly element: object;
  readonly release: () => void;
  readonly fail: () => void;
  readonly told: string[];
  readonly options: { readonly onError: (error: unknown) => string };
}

/** Returns a page with two parts that come late, one in the other. */
function makePage(): Page {
  const outer = Promise.withResolvers<string>();
  const inner = Promise.withResolvers<string>();
  for (const { promise } of [outer, inner]) promise.catch(() => {});
  const Late = ({ data }: { data: Promise<string> }): object => createElement("p", null, use(data));
  const late = createElement(
    Suspense,
    { fallback: "the outer one waits" },
    createElement(Late, { data: outer.promise }),
    createElement(Suspense, { fallback: "the inner one waits" }, createElement(Late, { data: inner.promise })),
  );
  const items = Array.from({ length: 300 }, (_, i) => createElement("li", { key: i }, `item ${i} ünd more`));
  const told: string[] = [];
  return {
    element: createElement("html", null, createElement("body", null, createElement("ul", null, items), late)),
    release: () => {
      outer.resolve("outer");
      setTimeout(() => inner.resolve("inner"), 50);
    },
    fail: () => inner.reject(new Error("no data")),
    told,
    options: { onError: (error) => `digest ${told.push(String(error))}` },
  };
}

type Rendered = ReadableStream<Uint8Array<ArrayBuffer>> & { readonly allReady: Promise<void> };

/** Returns the scenarios of a build's web streams. */
function webScenarios(name: string, { renderToReadableStream }: typeof edge): Application["scenarios"] {
  const render = (page: Page, options = {}): Promise<Rendered> =>
    renderToReadableStream(page.element, { ...page.options, ...options });
  const uses: Record<string, (page: Page) => Promise<unknown>> = {
    "read as it comes": async (page) => {
      const stream = await render(page);
      setTimeout(page.release, 5);
      return await read(stream);
    },
    "read when all is ready": async (page) => {
      const stream = await render(page);
      page.release();
      await stream.allReady;
      return await read(stream);
    },
    "in a Response": async (page) => {
      const stream = await render(page, { bootstrapScripts: ["/app.js"], nonce: "n" });
      page.release();
      return await answerOf(new Response(stream, { headers: { "content-type": "text/html" } }));
    },
    "in both branches of a tee": async (page) => {
      const branches = (await render(page)).tee();
      page.release();
      return await Promise.all(branches.map(read));
    },
    "through transforms": async (page) => {
      const stream = await render(page);
      // Not at once: what React sends with the shell depends on microtasks. A pipe of this package into a native
      // transform pulls the first chunk a microtask after the runtime's.
      setTimeout(page.release, 5);
      const upper = new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(text.toUpperCase()),
        flush: (controller) => controller.enqueue("<!-- flushed -->"),
      });
      return await read(stream.pipeThrough(new TextDecoderStream()).pipeThrough(upper));
    },
    "with a part that fails": async (page) => {
      const stream = await render(page);
      page.release();
      page.fail();
      return [await read(stream), page.told];
    },
    "with a shell that fails": async (page) => {
      const Failing = (): never => {
        throw new TypeError("no shell");
      };
      return [await settled(edge.renderToReadableStream(createElement(Failing), page.options)), page.told];
    },
    "aborted by its signal": async (page) => {
      const abort = new AbortController();
      const stream = await render(page, { signal: abort.signal });
      const reading = read(stream);
      await turns();
      abort.abort(new Error("enough"));
      return [await reading, await settled(stream.allReady), page.told];
    },
    "aborted before it begins": async (page) => {
      const rendering = settled(render(page, { signal: AbortSignal.abort(new Error("too late")) }));
      return [await rendering, page.told];
    },
    "cancelled by its reader": async (page) => {
      const stream = await render(page);
      const reader = stream.getReader();
      const first = await reader.read();
      await reader.cancel(new Error("gone"));
      page.release();
      await turns();
      return [first.done, await settled(reader.closed), await settled(stream.allReady), page.told];
    },
  };
  return Object.fromEntries(
    Object.entries(uses).map((
      [use, scenario],
    ) => [`${name}: renderToReadableStream() ${use}`, () => scenario(makePage())]),
  );
}

interface Pipeable {
  pipe<T extends NodeJS.WritableStream>(writable: T): T;
  abort(reason?: unknown): void;
}

const pipeable = (page: Page, options = {}): Pipeable =>
  node.renderToPipeableStream(page.element, { ...page.options, ...options });

export const scenarios: Application["scenarios"] = {
  ...webScenarios("edge", edge),
  ...webScenarios("node", node),
  "node: renderToPipeableStream() into a PassThrough": async () => {
    const page = makePage();
    const output = pipeable(page).pipe(new PassThrough());
    setTimeout(page.release, 5);
    return await readWhole(output);
  },
  "node: renderToPipeableStream() as a web stream": async () => {
    const page = makePage();
    const output = pipeable(page).pipe(new PassThrough());
    page.release();
    return await readWhole(Readable.toWeb(output) as ReadableStream<Uint8Array>);
  },
  "node: renderToPipeableStream() aborted": async () => {
    const page = makePage();
    const rendering = pipeable(page);
    const reading = readWhole(rendering.pipe(new PassThrough()));
    await turns();
    rendering.abort(new Error("enough"));
    return [await reading, page.told];
  },
  "node: renderToPipeableStream() into a response": () =>
    withServer((_request, response) => {
      const page = makePage();
      response.setHeader("content-type", "text/html");
      pipeable(page, { onShellReady: page.release }).pipe(response);
    }, async (origin) => {
      const response = await fetch(origin);
      return [response.status, response.headers.get("content-type"), await response.text()];
    }),
  "edge: renderToReadableStream() into a response by Readable.fromWeb()": () =>
    withServer(async (_request, response) => {
      const page = makePage();
      const stream = await edge.renderToReadableStream(page.element, page.options);
      page.release();
      Readable.fromWeb(stream).pipe(response);
    }, async (origin) => await (await fetch(origin)).text()),
  "edge: prerender()": async () => {
    const page = makePage();
    page.release();
    const { prelude } = await prerendering.prerender(page.element, page.options);
    return await read(prelude);
  },
};
