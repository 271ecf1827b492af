import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { HttpClient, type HttpClientOptions, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { within } from "../../support/waits.ts";
import { PROTOCOLS, scene } from "../scene.ts";

type Hooked = HttpRequestInit & { readonly client?: HttpClientOptions };

const body = new Uint8Array(100_000);
body[body.length - 1] = 1;

async function* chunks(...steps: (() => void)[]): AsyncGenerator<Uint8Array> {
  for (const step of steps) {
    step();
    yield body;
  }
}

/** The functions of the user's that a call runs before its response, each with a step within it. */
const hooks: Record<string, (step: () => void) => Hooked> = {
  "the body's first step": (step) => ({ body: chunks(step) }),
  "the body's second step": (step) => ({ body: chunks(() => {}, step) }),
  "a trailer": (step) => ({ body, trailers: { "x-sum": () => (step(), "1") } }),
  "onUploadProgress": (step) => ({ body, onUploadProgress: step }),
  "onUploadProgress at the end": (step) => ({
    body,
    onUploadProgress: ({ sent, total }) => void (sent === total && step()),
  }),
  "lookup": (step) => ({
    body,
    client: { lookup: (_host, _options, callback) => (step(), callback(null, [{ address: "127.0.0.1", family: 4 }])) },
  }),
  "allowAddress": (step) => ({ body, client: { allowAddress: () => (step(), true) } }),
  "proxy": (step) => ({ body, client: { proxy: () => void step() } }),
  "onEvent with connect": (step) => ({ body, client: { onEvent: ({ type }) => void (type === "connect" && step()) } }),
  "onEvent with request": (step) => ({ body, client: { onEvent: ({ type }) => void (type === "request" && step()) } }),
};

for (const protocol of PROTOCOLS) {
  test(`${protocol}: a call that a function of the user's aborts rejects with the reason, and leaves nothing`, () =>
    scene(protocol, {}, () => {}, async ({ url }) => {
      for (const [name, hook] of Object.entries(hooks)) {
        const controller = new AbortController();
        const reason = new Error(name);
        const { client: options, ...init } = hook(() => controller.abort(reason));
        const client = new HttpClient({ h2c: protocol === "h2c", ...options });
        const { signal } = controller;
        const call = client.fetch(url.replace("127.0.0.1", "localhost"), { method: "POST", signal, ...init });
        await assert.rejects(within(call, name), (error) => error === reason, name);
        assert.equal(client.stats().active, 0, name);
        await within(client.close(), `close() after ${name}`);
      }
    }));
}

/** A stream that answers the last byte of a body within its write(). */
class AnsweringDuplex extends Duplex {
  override _read(): void {}

  override _write(chunk: Uint8Array, _encoding: string, callback: () => void): void {
    callback();
    if (chunk.at(-1) === 1) this.push("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  }

  override _final(callback: () => void): void {
    callback();
  }
}

const ends: Record<string, (client: HttpClient, controller: AbortController) => void> = {
  "an abort": (_, controller) => controller.abort(),
  "destroy()": (client) => client.destroy(),
};

for (const [name, end] of Object.entries(ends)) {
  test(`a response that comes with the end of its body is not taken by a call that ${name} has ended`, async () => {
    const client = new HttpClient({ connect: () => new AnsweringDuplex() });
    const controller = new AbortController();
    const { signal } = controller;
    const onUploadProgress: HttpRequestInit["onUploadProgress"] = ({ sent, total }) => {
      if (sent === total) end(client, controller);
    };
    const call = client.fetch("http://a.example/", { method: "POST", body, signal, onUploadProgress });
    await assert.rejects(within(call, "the call"));
    assert.equal(client.stats().active, 0);
    await within(client.close(), "close()");
  });
}
