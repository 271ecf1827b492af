import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { HttpClient } from "../../../lib/http/mod.ts";
import { pause, within } from "../../support/waits.ts";

interface Came {
  readonly path: string;
  readonly length: string | undefined;
  readonly coding: string | undefined;
  readonly body: string;
}

/** A server that notes requests, redirects `/307` and loses the first to `/lost`. */
async function noted(act: (client: HttpClient, url: string, came: Came[]) => Promise<void>): Promise<void> {
  const came: Came[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const path = request.url!;
    if (path === "/early") response.write("early;");
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // the client has left
    }
    const { "content-length": length, "transfer-encoding": coding } = request.headers;
    came.push({ path, length, coding, body: Buffer.concat(chunks).toString() });
    if (path === "/lost" && came.length === 1) return void request.socket.destroy();
    if (path === "/307") response.writeHead(307, { location: "/there" });
    response.end("done");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new HttpClient();
  try {
    await within(act(client, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came), "the requests");
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const large = "large ".repeat(20_000);
const contents: Record<string, [() => BodyInit, string]> = {
  "a text": [() => "text é", "text é"],
  "an empty text": [() => "", ""],
  "a large text": [() => large, large],
  "bytes": [() => new Uint8Array([97, 98]), "ab"],
  "a Blob": [() => new Blob(["a", "b"]), "ab"],
  "parameters": [() => new URLSearchParams({ a: "b" }), "a=b"],
};

for (const [what, [make, body]] of Object.entries(contents)) {
  test(`a Request made of ${what} is sent with its length, again after a redirect, and again if it is lost`, () =>
    noted(async (client, url, came) => {
      const length = String(Buffer.byteLength(body));
      const ask = (path: string) => client.fetch(new Request(url + path, { method: "PUT", body: make() }));
      assert.equal(await (await ask("/lost")).text(), "done");
      assert.equal(await (await ask("/307")).text(), "done");
      for (const each of came) assert.deepEqual({ ...each, path: "" }, { path: "", length, coding: undefined, body });
      assert.deepEqual(came.map(({ path }) => path), ["/lost", "/lost", "/307", "/there"]);
    }));
}

/** Ways to create the body of a Request of `size` bytes, or a few more. */
const MADE_OF: Record<string, (size: number) => BodyInit | AsyncIterable<Uint8Array>> = {
  "a text": (size) => "x".repeat(size),
  "bytes": (size) => new Uint8Array(size),
  "a buffer": (size) => new ArrayBuffer(size),
  "a Blob": (size) => new Blob([new Uint8Array(size)]),
  "a File": (size) => new File(["x".repeat(size)], "x.txt", { type: "text/x" }),
  "parameters": (size) => new URLSearchParams({ a: "x".repeat(size) }),
  "a form": (size) => {
    const form = new FormData();
    form.append("name", "value");
    form.append("file", new Blob([new Uint8Array(size)]), "x.bin");
    return form;
  },
  "a stream": (size) => new ReadableStream({ start: (to) => (to.enqueue(new Uint8Array(size + 1)), to.close()) }),
  "a stream of a Blob": (size) => new Blob([new Uint8Array(size)]).stream(),
  "an iterable": async function* (size) {
    yield new Uint8Array(size + 1);
  },
};
if ("Bun" in globalThis) {
  const { Bun: bun } = globalThis as unknown as { Bun: { file(path: string | URL): Blob } };
  MADE_OF["a file"] = () => bun.file(new URL(import.meta.url).pathname);
  MADE_OF["a part of a file"] = () => bun.file(new URL(import.meta.url).pathname).slice(3, 1000);
}

/** The ways to pass a Request. */
const WAYS: Record<string, (client: HttpClient, request: Request) => Promise<Response>> = {
  "as it is": (client, request) => client.fetch(request),
  "copied": (client, request) => client.fetch(new Request(request, { headers: { "x-a": "1" } })),
  "by an interceptor": (client, request) => client.fetch(request, { intercept: [(each, next) => next(each)] }),
};

// On Bun it is a stream then.
if (!("Bun" in globalThis)) {
  WAYS["looked at"] = (client, request) => {
    assert.ok(request.body instanceof ReadableStream);
    assert.equal(request.body.locked, false);
    return client.fetch(request);
  };
}

for (const [what, make] of Object.entries(MADE_OF)) {
  for (const [how, send] of Object.entries(WAYS)) {
    test(`a Request made of ${what} is framed as the runtime's own fetch frames it, ${how}`, () =>
      noted(async (client, url, came) => {
        for (const size of [0, 1, 70_000, 2_000_000]) {
          if ("Bun" in globalThis && size === 0 && how === "by an interceptor") continue; // a stream there
          const request = (): Request =>
            new Request(url, { method: "POST", body: make(size) as BodyInit, duplex: "half" } as RequestInit);
          const copy = request();
          await (await fetch(how === "copied" ? new Request(copy, { headers: { "x-a": "1" } }) : copy)).text();
          await (await send(client, request())).text();
          const [native, ours] = came.splice(0);
          // Bun reads ahead of what is a stream to it, too; a form's boundary is each time another.
          const isStream = what.includes("stream") || what === "an iterable";
          if (!isStream) assert.ok(ours.length !== undefined, `${size} bytes have no length`);
          assert.equal(ours.body.length, native.body.length);
          if (!isStream) assert.equal(ours.length, native.length ?? String(ours.body.length));
          if (what === "a stream" || what === "an iterable") assert.equal(ours.coding, "chunked");
        }
      }));
  }
}

test("a Request made of a stream that takes its time is sent as it comes", () =>
  noted(async (client, url, came) => {
    let push: ReadableStreamDefaultController<Uint8Array> = undefined as never;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (push = controller) });
    push.enqueue(Buffer.from("one,"));
    const request = new Request(`${url}/early`, { method: "POST", body, duplex: "half" } as RequestInit);
    const response = await client.fetch(request);
    push.enqueue(Buffer.from("two"));
    await pause(5);
    push.close();
    assert.equal(await response.text(), "early;done");
    assert.deepEqual(came, [{ path: "/early", length: undefined, coding: "chunked", body: "one,two" }]);
  }));

test("a Request made of a stream that fails fails", () =>
  noted(async (client, url) => {
    const failing = (ms: number) =>
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (ms > 0) await pause(ms);
          controller.error(new Error("broken"));
        },
      });
    for (const ms of [0, 20]) {
      const request = new Request(url, { method: "POST", body: failing(ms), duplex: "half" } as RequestInit);
      await assert.rejects(client.fetch(request), { code: "BODY_FAILED" });
    }
  }));

test("an abort, while the body of a Request is looked at, cancels it", () =>
  noted(async (client, url, came) => {
    let cancelled: unknown;
    const body = new ReadableStream<Uint8Array>({ cancel: (reason) => void (cancelled = reason) });
    const controller = new AbortController();
    const request = new Request(url, { method: "POST", body, duplex: "half" } as RequestInit);
    const response = client.fetch(request, { signal: controller.signal });
    const reason = new Error("no longer");
    controller.abort(reason);
    await assert.rejects(response, reason);
    await pause(20);
    assert.equal(cancelled, reason);
    assert.equal(came.length, 0);
  }));
