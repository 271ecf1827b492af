import { load } from "./packages.ts";
import { type Application, fieldsOf, read, readWhole, settled, withServer } from "./recorded.ts";

const { createFetch, ofetch } = await load("ofetch");

/** Runs `use` with a server that echoes bodies, sends JSON and events, and fails in several ways. */
function served(use: (origin: string) => Promise<unknown>): Promise<unknown> {
  let failures = 2;
  return withServer((request, response) => {
    if (request.url === "/echo") {
      response.writeHead(200, { "content-type": request.headers["content-type"] ?? "text/plain" });
      request.pipe(response);
    } else if (request.url === "/json") {
      response.writeHead(200, { "content-type": "application/json" }).end('{"a":[1,2]}');
    } else if (request.url === "/events") {
      response.writeHead(200, { "content-type": "text/event-stream" }).end("data: one\n\ndata: two\n\n");
    } else if (request.url === "/unsteady" && failures-- > 0) response.writeHead(503).end("not now");
    else if (request.url === "/broken") {
      response.writeHead(200, { "content-length": "100" });
      response.write("a part");
      setTimeout(() => response.destroy(), 20);
    } else response.writeHead(request.url === "/unsteady" ? 200 : 404).end("the end");
  }, use);
}

const bytes = (...texts: string[]): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });

export const scenarios: Application["scenarios"] = {
  "a stream as the response": () =>
    served(async (origin) => await readWhole(await ofetch(`${origin}/events`, { responseType: "stream" }))),
  "a stream that is guessed from the type": () =>
    served(async (origin) => await readWhole(await ofetch(`${origin}/events`))),
  "JSON, raw": () =>
    served(async (origin) => {
      const response = await ofetch.raw(`${origin}/json`);
      return [response.status, fieldsOf(response.headers), response._data];
    }),
  "a stream as the body": () =>
    served((origin) => ofetch(`${origin}/echo`, { method: "POST", body: bytes("one ", "two"), duplex: "half" })),
  "a stream through a transform as the body, and back": () =>
    served(async (origin) => {
      const body = bytes("one ", "two").pipeThrough(new TextDecoderStream()).pipeThrough(
        new TransformStream<string, string>({ transform: (text, to) => to.enqueue(text.toUpperCase()) }),
      ).pipeThrough(new TextEncoderStream());
      const options = { method: "PUT", body, duplex: "half", responseType: "stream" };
      return await readWhole(await ofetch(`${origin}/echo`, options));
    }),
  "a blob": () =>
    served(async (origin) => {
      const blob: Blob = await ofetch(`${origin}/json`, { responseType: "blob" });
      return [blob.type, await read(blob.stream())];
    }),
  "a blob as the body": () =>
    served((origin) => ofetch(`${origin}/echo`, { method: "POST", body: new Blob(["a ", "blob"]) })),
  "a blob's URL": async () => {
    const url = URL.createObjectURL(new Blob(["a ", "blob"]));
    try {
      return await ofetch(url, { responseType: "text" });
    } finally {
      URL.revokeObjectURL(url);
    }
  },
  "a body that is left": () =>
    served(async (origin) => {
      const response = await ofetch.raw(`${origin}/events`, { responseType: "stream" });
      return await settled(response._data.cancel("not wanted"));
    }),
  "a retry": () => served((origin) => ofetch(`${origin}/unsteady`, { retry: 3, responseType: "text" })),
  "an error's body": () =>
    served((origin) =>
      settled(ofetch(`${origin}/none`).catch(({ status, data }: Record<string, unknown>) => [status, data]))
    ),
  "a response that breaks off": () =>
    served(async (origin) => {
      const { error } = await readWhole(await ofetch(`${origin}/broken`, { responseType: "stream" }));
      return error !== undefined;
    }),
  "a fetch of its own": async () => {
    const own = createFetch({ fetch: () => Promise.resolve(new Response(bytes("made ", "here"))) });
    return [
      await own("http://localhost/", { responseType: "text" }),
      await read(await own("http://localhost/", { responseType: "stream" })),
    ];
  },
  "an abort": () =>
    served(async (origin) => {
      const abort = new AbortController();
      const stream = await ofetch(`${origin}/broken`, { responseType: "stream", signal: abort.signal });
      abort.abort(new Error("enough"));
      return (await read(stream)).error;
    }),
};
