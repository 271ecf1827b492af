import { getRequestListener } from "@hono/node-server";
import { noNativeServer, serveNatively } from "../../static/native_server.ts";
import { load } from "./packages.ts";
import { answerOf, type Application, read, received, turns, withServer } from "./recorded.ts";

const { Hono } = await load("hono");
const { stream, streamSSE, streamText } = await load("hono/streaming");
const { compress } = await load("hono/compress");
const { bodyLimit } = await load("hono/body-limit");
const { etag } = await load("hono/etag");
const { timeout } = await load("hono/timeout");
const { proxy } = await load("hono/proxy");

const events: string[] = [];
const encoder = new TextEncoder();
const source = (...texts: string[]): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(encoder.encode(text));
      controller.close();
    },
    cancel: (reason) => void events.push(`cancelled: ${reason}`),
  });

const app = new Hono();
// deno-lint-ignore no-explicit-any -- Hono is not installed
type Context = any;
app.get("/stream", (c: Context) =>
  stream(c, async (out: Context) => {
    out.onAbort(() => events.push("aborted"));
    await out.write(encoder.encode("bytes "));
    await out.writeln("a line");
    await out.sleep(2);
    await out.pipe(source("piped ", "through"));
  }));
app.get("/endless", (c: Context) =>
  stream(c, async (out: Context) => {
    out.onAbort(() => events.push("aborted"));
    while (!out.aborted) {
      await out.write("again ");
      await out.sleep(1);
    }
    events.push("over");
  }));
app.get("/failing", (c: Context) =>
  stream(c, async (out: Context) => {
    await out.write("some");
    throw new Error("no more");
  }, async (error: Error, out: Context) => {
    events.push(error.message);
    await out.write(" and an excuse");
  }));
app.get("/text", (c: Context) =>
  streamText(c, async (out: Context) => {
    for (const word of ["one", "two", "three"]) await out.writeln(word);
  }));
app.get("/events", (c: Context) =>
  streamSSE(c, async (out: Context) => {
    for (let id = 0; id < 3; id++) await out.writeSSE({ id: String(id), event: "count", data: `line ${id}\nmore` });
  }));
app.use("/compressed/*", compress());
app.get("/compressed/text", (c: Context) => c.text("compressed ".repeat(500)));
app.get("/compressed/stream", (c: Context) => {
  c.header("content-type", "text/plain");
  return c.body(source(...Array.from({ length: 50 }, (_, i) => `line ${i} of a stream\n`.repeat(50))));
});
app.get("/compressed/events", (c: Context) => streamSSE(c, (out: Context) => out.writeSSE({ data: "plain" })));
app.use("/limited", bodyLimit({ maxSize: 10, onError: (c: Context) => c.text("too much", 413) }));
app.post("/limited", async (c: Context) => c.text(await c.req.text()));
app.get("/blob", () => new Response(new Blob(["a ", "blob"], { type: "text/own" })));
app.get("/left", async (c: Context) => {
  const other = new Response("not wanted");
  await other.body!.cancel("not wanted");
  return c.text("wanted");
});
app.post("/echo", (c: Context) => c.body(c.req.raw.body));
app.post("/upper", (c: Context) =>
  c.body(
    c.req.raw.body.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({ transform: (text, to) => to.enqueue(text.toUpperCase()) }),
    ).pipeThrough(new TextEncoderStream()),
  ));
app.use("/tagged", etag());
app.get("/tagged", (c: Context) => c.body(source("a ", "stream")));
app.use("/slow", timeout(10));
app.get("/slow", (c: Context) => new Promise((resolve) => setTimeout(() => resolve(c.body(source("late"))), 50)));
app.get(
  "/proxied",
  () => proxy("http://localhost/", { customFetch: () => Promise.resolve(new Response(source("from ", "afar"))) }),
);

const ask = async (path: string, init?: RequestInit): Promise<Response> => await app.request(path, init);

/** The answer, and what the handlers noted meanwhile. */
const told = (path: string, init?: () => RequestInit): () => Promise<unknown> => async () => {
  events.length = 0;
  return [await answerOf(await ask(path, init?.())), [...events]];
};

/** The answer of the runtime's own server for such applications; on Node, of the one that Hono has for it. */
const served = (path: string, init?: () => RequestInit): () => Promise<unknown> => async () => {
  const seen = async (origin: string): Promise<unknown> => await received(await fetch(origin + path, init?.()));
  if (noNativeServer) return await withServer(getRequestListener(app.fetch), seen);
  const server = serveNatively(app.fetch);
  try {
    return await seen(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.close();
  }
};

async function decompressed(path: string): Promise<unknown> {
  const response = await ask(path, { headers: { "accept-encoding": "gzip" } });
  const coding = response.headers.get("content-encoding");
  const body = coding ? response.body!.pipeThrough(new DecompressionStream("gzip")) : response.body!;
  return [response.status, coding, response.headers.get("vary"), await new Response(body).text()];
}

const post = (body: BodyInit): RequestInit => ({ method: "POST", body, duplex: "half" } as RequestInit);

export const scenarios: Application["scenarios"] = {
  "stream()": told("/stream"),
  "stream() of a handler that fails": told("/failing"),
  "stream() that is cancelled": async () => {
    events.length = 0;
    const reader = (await ask("/endless")).body!.getReader();
    await reader.read();
    await reader.cancel("gone");
    await turns(20);
    return [...events];
  },
  "streamText()": told("/text"),
  "streamSSE()": told("/events"),
  "compress() of a text": () => decompressed("/compressed/text"),
  "compress() of a stream": () => decompressed("/compressed/stream"),
  "compress() leaves events alone": () => decompressed("/compressed/events"),
  "a stream as the body, and back": told("/echo", () => post(source("one ", "two"))),
  "a stream as the body, transformed": told("/upper", () => post(source("one ", "two"))),
  "a text as the body, transformed": told("/upper", () => post("text")),
  "bodyLimit() of a stream that is short": told("/limited", () => post(source("short"))),
  "bodyLimit() of a stream that is long": told("/limited", () => post(source("far too ", "long for it"))),
  "etag() of a stream": told("/tagged"),
  "timeout()": told("/slow"),
  "proxy()": told("/proxied"),
  "served: stream()": served("/stream"),
  "served: streamText()": served("/text"),
  "served: streamSSE()": served("/events"),
  "served: compress() of a stream": served("/compressed/stream"),
  "served: a stream as the body, and back": served("/echo", () => post(source("one ", "two"))),
  "served: a text as the body, transformed": served("/upper", () => post("text")),
  "a blob": told("/blob"),
  "a blob as the body, and back": told("/echo", () => post(new Blob(["a ", "blob"]))),
  "a body that is left": told("/left"),
  "served: a blob": served("/blob"),
  "a response that is cloned": async () => {
    const response = await ask("/text");
    const copy = response.clone();
    return [await read(copy.body), await read(response.body)];
  },
};
