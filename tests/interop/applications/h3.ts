import { load } from "./packages.ts";
import { answerOf, type Application, readWhole, received, withServer } from "./recorded.ts";

const v1 = await load("h3-v1");
const v2 = await load("h3");
const { toNodeHandler } = await load("h3/node").catch(() => v2);

// deno-lint-ignore no-explicit-any -- h3 is not installed
type Event = any;

const encoder = new TextEncoder();
const source = (...texts: string[]): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(encoder.encode(text));
      controller.close();
    },
  });
const upper = (): TransformStream<string, string> =>
  new TransformStream({ transform: (text, to) => to.enqueue(text.toUpperCase()) });
const uppered = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> =>
  stream.pipeThrough(new TextDecoderStream()).pipeThrough(upper()).pipeThrough(new TextEncoderStream());

async function* texts(): AsyncGenerator<string> {
  for (const text of ["one ", "two ", "three"]) yield await Promise.resolve(text);
}

function failing(): ReadableStream<Uint8Array<ArrayBuffer>> {
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      if (count++ > 0) throw new Error("no more");
      controller.enqueue(encoder.encode("some"));
    },
  });
}

/** Returns the application of version 2. */
function app2(): Event {
  return new v2.H3()
    .get("/stream", () => source("a ", "stream"))
    .get("/blob", () => new Blob(["a ", "blob"], { type: "text/own" }))
    .get("/response", () => new Response(source("a ", "response"), { headers: { "x-own": "1" } }))
    .get("/iterable", () => v2.iterable(texts()))
    .get("/failing", () => failing())
    .get("/events", (event: Event) => {
      const events = v2.createEventStream(event);
      void (async () => {
        for (const data of ["one", "two"]) await events.push({ id: data, data });
        await events.close();
      })();
      return events.send();
    })
    .post("/echo", (event: Event) => event.req.body)
    .post("/upper", (event: Event) => uppered(event.req.body))
    .post("/json", async (event: Event) => ({ got: await event.req.json() }));
}

/** Returns the application of version 1. */
function app1(): Event {
  const { createApp, createRouter, eventHandler } = v1;
  const router = createRouter()
    .get("/stream", eventHandler(() => source("a ", "stream")))
    .get("/sent", eventHandler((event: Event) => v1.sendStream(event, source("sent ", "on"))))
    .get("/response", eventHandler(() => new Response(source("a ", "response"), { headers: { "x-own": "1" } })))
    .get("/iterable", eventHandler((event: Event) => v1.sendIterable(event, texts())))
    .get(
      "/events",
      eventHandler((event: Event) => {
        const events = v1.createEventStream(event);
        void (async () => {
          for (const data of ["one", "two"]) await events.push({ id: data, data });
          await events.close();
        })();
        return events.send();
      }),
    )
    .post("/echo", eventHandler((event: Event) => v1.getRequestWebStream(event)))
    .post("/upper", eventHandler((event: Event) => uppered(v1.getRequestWebStream(event))))
    .post("/json", eventHandler(async (event: Event) => ({ got: await v1.readBody(event) })));
  return createApp().use(router);
}

const post = (body: BodyInit): RequestInit => ({ method: "POST", body, duplex: "half" } as RequestInit);
const questions: readonly (readonly [path: string, init?: () => RequestInit])[] = [
  ["/stream"],
  ["/response"],
  ["/iterable"],
  ["/events"],
  ["/none"],
  ["/echo", () => post(source("one ", "two"))],
  ["/upper", () => post(source("one ", "two"))],
  ["/upper", () => post("text")],
  ["/json", () => post('{"a":1}')],
];

type Ask = (path: string, init?: RequestInit) => Promise<unknown>;

function asked(name: string, more: readonly string[], ask: Ask): Application["scenarios"] {
  const all = [...questions, ...more.map((path) => [path, undefined] as const)];
  return Object.fromEntries(all.map(([path, init], i) => [`${name}: ${path} (${i})`, () => ask(path, init?.())]));
}

/** Over a server of `node:http`. */
const overNode = (listener: () => Event): Ask => (path, init) =>
  withServer(listener(), async (origin) => await received(await fetch(origin + path, init)));

export const scenarios: Application["scenarios"] = {
  ...asked("v2", ["/failing", "/blob"], async (path, init) => await answerOf(await app2().request(path, init))),
  ...asked("v2 on node:http", ["/blob"], overNode(() => toNodeHandler(app2()))),
  ...asked("v1", [], async (path, init) => {
    const handler = v1.toWebHandler(app1());
    return await answerOf(await handler(new Request(`http://localhost${path}`, init)));
  }),
  ...asked("v1 on node:http", ["/sent"], overNode(() => v1.toNodeListener(app1()))),
  "v2: a proxy": () =>
    withServer((request, response) => void request.pipe(response), async (origin) => {
      const app = new v2.H3().all("/", (event: Event) => v2.proxyRequest(event, origin));
      return await readWhole((await app.request("/", post("proxied"))).body);
    }),
};
