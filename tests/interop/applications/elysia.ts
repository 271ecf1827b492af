import { load } from "./packages.ts";
import { answerOf, type Application, received, turns } from "./recorded.ts";
import { pause } from "../../support/waits.ts";

const { Elysia, sse } = await load("elysia");

const notes: string[] = [];
const source = (...texts: string[]): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
    cancel: (reason) => void notes.push(`cancelled: ${reason}`),
  });

// deno-lint-ignore no-explicit-any -- Elysia is not installed
type Context = any;

const app = new Elysia()
  .get("/text", () => "a text")
  .get("/stream", () => source("a ", "stream"))
  .get("/response", () => new Response(source("a ", "response"), { headers: { "x-own": "1" } }))
  .get("/words", async function* () {
    for (const word of ["one ", "two ", "three"]) {
      yield word;
      await pause(1);
    }
  })
  .get("/objects", function* () {
    yield { a: 1 };
    yield { b: 2 };
  })
  .get("/events", async function* () {
    for (const data of ["one", "two"]) {
      yield sse({ event: "word", data });
      await pause(1);
    }
  })
  .get("/failing", async function* () {
    yield await Promise.resolve("some");
    throw new Error("no more");
  })
  .get("/endless", async function* () {
    try {
      for (;;) {
        yield "again ";
        await pause(1);
      }
    } finally {
      notes.push("over");
    }
  })
  .post("/echo", ({ request }: Context) => new Response(request.body))
  .post("/upper", ({ request }: Context) =>
    new Response(
      request.body.pipeThrough(new TextDecoderStream()).pipeThrough(
        new TransformStream<string, string>({ transform: (text, to) => to.enqueue(text.toUpperCase()) }),
      ).pipeThrough(new TextEncoderStream()),
    ), { parse: "none" })
  .post("/json", ({ body }: Context) => ({ got: body }))
  .get("/mapped", () => source("mapped"), {
    afterHandle: ({ set }: Context) => {
      set.headers["x-mapped"] = "1";
    },
  });

const post = (body: BodyInit, type = "text/plain"): RequestInit =>
  ({ method: "POST", body, duplex: "half", headers: { "content-type": type } }) as RequestInit;

const questions: Readonly<Record<string, () => RequestInit>> = {
  ...Object.fromEntries(
    ["/text", "/stream", "/response", "/words", "/objects", "/events", "/mapped", "/none"].map((path) => [
      path,
      () => ({}),
    ]),
  ),
  "/echo": () => post(source("one ", "two"), "application/octet-stream"),
  "/upper": () => post(source("one ", "two"), "application/octet-stream"),
  "/json": () => post('{"a":1}', "application/json"),
};

const ask = async (path: string, init?: RequestInit): Promise<Response> =>
  await app.handle(new Request(`http://localhost${path}`, init));

export const scenarios: Application["scenarios"] = {
  ...Object.fromEntries(
    [...Object.entries(questions), ["/failing", () => ({})] as const].map(([path, init]) => [
      path,
      async () => await answerOf(await ask(path, init())),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(questions).map(([path, init]) => [`${path} on Bun's server`, async () => {
      const server = app.listen({ port: 0, hostname: "127.0.0.1" }).server;
      try {
        return await received(await fetch(`http://127.0.0.1:${server.port}${path}`, init()));
      } finally {
        await app.stop(true);
      }
    }]),
  ),
  "an answer that is left": async () => {
    notes.length = 0;
    const reader = (await ask("/endless")).body!.getReader();
    await reader.read();
    await reader.cancel("gone");
    await turns(20);
    return [...notes];
  },
};
