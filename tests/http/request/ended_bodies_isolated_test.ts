import assert from "node:assert/strict";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { get, type IncomingMessage } from "node:http";
import process from "node:process";
import { Readable } from "node:stream";
import { test } from "node:test";
import {
  HttpClient,
  type HttpClientOptions,
  HttpError,
  type HttpRequestBody,
  type HttpRequestInit,
} from "../../../lib/http/mod.ts";
import { saveBody } from "../../../lib/upload/mod.ts";
import { respond, whenWhole } from "../faults/server_request.ts";
import { scene } from "../scene.ts";
import { Buffer } from "node:buffer";

interface Given {
  readonly body: HttpRequestBody;
  readonly ended: Promise<unknown>;
}

const bodies: Record<string, () => Given> = {
  "Readable": () => {
    const body = new Readable({ read() {} });
    return { body, ended: once(body, "close") };
  },
  "ReadableStream": () => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    return { body: new ReadableStream({ cancel: resolve }, { highWaterMark: 0 }), ended };
  },
  "iterator": () => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    const stop = (): Promise<IteratorResult<Uint8Array>> => {
      resolve(undefined);
      return Promise.resolve({ done: true, value: undefined });
    };
    const iterator = { next: () => new Promise<IteratorResult<Uint8Array>>(() => {}), return: stop };
    return { body: { [Symbol.asyncIterator]: () => iterator }, ended };
  },
};

type Way = readonly [init: HttpRequestInit, options?: HttpClientOptions, url?: string];
type Interceptors = NonNullable<HttpClientOptions["intercept"]>;

const by = (...intercept: Interceptors): HttpClientOptions => ({ intercept });
const never = (): Promise<Response> => new Promise(() => {});
const fail = (): never => {
  throw new Error("no");
};

/** Ways for a call to end before its body is read. */
const ways: Record<string, () => Way> = {
  "an interceptor throws": () => [{}, by(fail)],
  "an interceptor answers": () => [{}, by(() => new Response("mock"))],
  "an interceptor sends another body": () => [{}, by((request, next) => next({ ...request, body: "other" }))],
  "an interceptor sets another body": () => [{}, by((request, next) => (request.body = "other", next(request)))],
  "an interceptor returns nothing": () => [{}, by(() => undefined as unknown as Response)],
  "an inner interceptor throws": () => [{}, by((request, next) => next(request), fail)],
  "an interceptor's request is refused": () => [{}, by((request, next) => next({ ...request, method: "GET" }))],
  "a signal fires while an interceptor waits": () => {
    const controller = new AbortController();
    const wait = (): Promise<Response> => (queueMicrotask(() => controller.abort()), never());
    return [{ signal: controller.signal }, by(wait)];
  },
  "a signal has fired": () => [{ signal: AbortSignal.abort() }, by(never)],
  "a timeout passes while an interceptor waits": () => [{ timeout: 1 }, by(never)],
  "a header is refused": () => [{ headers: { host: "x" } }],
  "a header is refused with an interceptor": () => [{ headers: { "é ": "x" } }, by(never)],
  "a length is refused": () => [{ headers: { "content-length": "x" } }],
  "a port is refused": () => [{}, {}, "http://127.0.0.1:25/"],
  "a URL is refused": () => [{}, {}, "http://"],
  "an option is refused": () => [{ timeout: -1 }],
  "interceptors are refused": () => [{ intercept: [1] as unknown as Interceptors }],
  "trailers are refused": () => [{ trailers: { "content-length": "1" } }],
  "a method is refused": () => [{ method: "GET" }],
  "its proxy is refused": () => [{}, { proxy: fail }],
};

test("a body that fetch() was given is ended, in whichever way the call ends without it", () =>
  scene(
    "http/1.1",
    {},
    (request) => whenWhole(request, () => respond(request, 200, Buffer.from("ok"))),
    async ({ url }) => {
      for (const [way, make] of Object.entries(ways)) {
        for (const [kind, give] of Object.entries(bodies)) {
          const [init, options, to = url] = make();
          const client = new HttpClient({ ...options, retries: 0 });
          const { body, ended } = give();
          const late = Symbol(`${way}: ${kind}`);
          const call = client.fetch(to, { method: "POST", body, ...init });
          await call.then((response) => response.text(), () => {});
          // Turns of the event loop: none of the ways needs more than a few.
          const turns = (async () => {
            for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
            return late;
          })();
          assert.notEqual(await Promise.race([ended, turns]), late, `${way}: ${kind}`);
          client.destroy();
        }
      }
    },
  ));

test("a body that an interceptor answers with is the response's", async () => {
  const client = new HttpClient({ intercept: [({ body }) => new Response(body as ReadableStream<Uint8Array>)] });
  const body = new Blob(["echo"]).stream();
  assert.equal(await (await client.fetch("http://a/", { method: "POST", body })).text(), "echo");
  client.destroy();
});

test("a Request that is refused can be sent again", async () => {
  const refusals: [HttpRequestInit, string][] = [
    [{ timeout: -1 }, "INVALID_OPTION"],
    [{ headers: { "x y": "z" } }, "INVALID_HEADER"],
  ];
  for (const intercept of [[], [(request, next) => next(request)]] satisfies HttpRequestInit["intercept"][]) {
    await using client = new HttpClient({ intercept });
    for (const [init, code] of refusals) {
      for (const body of ["text", new Blob(["text"]), new Blob(["text"]).stream()]) {
        const request = new Request("http://a/", { method: "POST", body, duplex: "half" } as RequestInit);
        await assert.rejects(client.fetch(request, init), { code });
        assert.equal(request.bodyUsed, false);
        assert.equal(await request.text(), "text");
      }
    }
  }
});

test("what saveBody() was given is ended if its signal has fired", async () => {
  for (const kind of ["Readable", "ReadableStream", "Request"]) {
    const { body, ended } = bodies[kind === "Request" ? "ReadableStream" : kind]!();
    const init = { method: "PUT", body: body as ReadableStream, headers: { "content-length": "1" }, duplex: "half" };
    const source = kind === "Request" ? new Request("http://localhost/", init as RequestInit) : body;
    const saving = saveBody(source as ReadableStream<Uint8Array>, "never", {
      signal: AbortSignal.abort(new Error("mine")),
    });
    await assert.rejects(saving, { message: "mine" });
    await ended;
  }
});

test("a response of node:http is ended if the call fails whose body it is", () =>
  scene("http/1.1", {}, (request) => request.head(200), async ({ url }) => {
    const client = new HttpClient();
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const asked = get(`${url}/`, resolve).on("error", () => {});
    const body = await promise;
    await assert.rejects(client.fetch("http://127.0.0.1:2/", { method: "POST", body }), HttpError);
    if (!body.destroyed) await once(body, "close");
    asked.destroy();
    client.destroy();
  }));

test("the output of a child process is ended if the call fails, so that the process does not wait for a reader", async () => {
  const client = new HttpClient();
  const { stdout } = spawn(process.execPath, ["--version"], { stdio: ["ignore", "pipe", "ignore"] });
  await assert.rejects(client.fetch("http://127.0.0.1:2/", { method: "POST", body: stdout }), HttpError);
  if (!stdout.destroyed) await once(stdout, "close");
  client.destroy();
});
