import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { Readable } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import { HttpClient, type HttpRequestBody } from "../../../lib/http/mod.ts";
import { PROTOCOLS, scene } from "../scene.ts";
import { until } from "../../support/waits.ts";
import { respond } from "../faults/server_request.ts";
import { StreamBody } from "../../../lib/http/request/stream_body.ts";
import { ReadableStream as OwnReadableStream } from "../../../lib/streams/mod.ts";

const pieces = [Buffer.from("first"), Buffer.from("second")];
const web = (Class: typeof ReadableStream) => (): ReadableStream => {
  return new Class({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
};
async function* generate(): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}

const webKinds: Record<string, () => ReadableStream> = {
  "the runtime's": web(ReadableStream),
  "the package's": web(OwnReadableStream as unknown as typeof ReadableStream),
  "of a Blob": () => new Blob(pieces).stream(),
  "of a Response": () => new Response("firstsecond").body!,
};
const webUses: Record<string, (stream: ReadableStream) => Promise<unknown>> = {
  "read in part": async (stream) => {
    const reader = stream.getReader();
    await reader.read();
    reader.releaseLock();
  },
  "iterated in part": async (stream) => {
    for await (const _ of stream.values({ preventCancel: true })) break;
  },
  "iterated": (stream) => Array.fromAsync(stream),
  "cancelled": (stream) => stream.cancel(),
};
const nodeUses: Record<string, (stream: Readable) => Promise<unknown>> = {
  "read in part": async (stream) => {
    for await (const _ of stream.iterator({ destroyOnReturn: false })) break;
  },
  "iterated": (stream) => stream.toArray(),
  "read by events": (stream) => once(stream.resume(), "end"),
  "destroyed": (stream) => once(stream.destroy(), "close"),
};

const wasRead = { code: "INVALID_BODY", message: /read of its stream already/ };

test("a stream that was read of, or given up, is no body, whichever kind it is and however that was", async () => {
  for (const [kind, make] of Object.entries(webKinds)) {
    for (const [how, use] of Object.entries(webUses)) {
      const stream = make();
      await use(stream);
      assert.throws(() => new StreamBody(stream, undefined), wasRead, `${kind}, ${how}`);
    }
    assert.ok(new StreamBody(make(), undefined));
  }
  for (const [how, use] of Object.entries(nodeUses)) {
    const stream = Readable.from(pieces);
    await use(stream);
    assert.throws(() => new StreamBody(stream, undefined), wasRead, how);
  }
});

test("a Readable that failed before it was sent fails with its own error", async () => {
  const stream = Readable.from(pieces);
  stream.destroy(new Error("no such file"));
  await once(stream, "error");
  await assert.rejects(new StreamBody(stream, undefined).read(), { code: "BODY_FAILED", message: /no such file/ });
});

/** Streams of Node that fail at some time after they were made: before, while, and after they are read, or never read. */
const failing: Record<string, () => Readable> = {
  "a file that is not there": () => createReadStream("no-such-folder/missing"),
  "at once": () => {
    const stream = new Readable({ read() {} });
    queueMicrotask(() => stream.destroy(new Error("no such file")));
    return stream;
  },
  "in a turn": () => {
    const stream = new Readable({ read() {} });
    setImmediate(() => stream.destroy(new Error("no such file")));
    return stream;
  },
  "when read": () => new Readable({ read: () => assert.fail("no such file") }),
};

test("a Readable that fails after it was given as a body fails its request alone, and ends with it", async () => {
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown): void => void uncaught.push(error);
  process.on("uncaughtException", onUncaught);
  try {
    for (const protocol of PROTOCOLS) {
      await scene(protocol, {}, () => {}, async ({ client, url }) => {
        for (const [when, make] of Object.entries(failing)) {
          const call = client.fetch(`${url}/upload`, { method: "PUT", body: make() });
          await assert.rejects(call, { code: "BODY_FAILED", message: /no such file/i }, when);
          // Of a request that is given up before its body was read.
          const unread = make();
          const signal = AbortSignal.abort(new Error("given up"));
          await assert.rejects(client.fetch(url, { method: "PUT", body: unread, signal }), /given up/, when);
          await until(() => unread.closed, `the end of the stream: ${when}`);
        }
        for (const isRead of [false, true]) {
          const silent = new Readable({ read() {} });
          if (isRead) silent.push("first");
          const controller = new AbortController();
          const call = client.fetch(`${url}/upload`, { method: "PUT", body: silent, signal: controller.signal });
          if (isRead) await until(() => silent.readableDidRead, "a piece that was read");
          controller.abort(new Error("given up"));
          await assert.rejects(call, /given up/);
          await until(() => silent.closed, "the end of the stream");
        }
      });
    }
    assert.deepEqual(uncaught, []);
  } finally {
    process.off("uncaughtException", onUncaught);
  }
});

test("a request of node:http whose upstream cannot be reached is answered", async () => {
  const client = new HttpClient({ retries: 0 });
  const server = createServer((request, response) => {
    const call = client.fetch("http://127.0.0.1:2/", { method: "PUT", body: request });
    call.catch((error) => response.writeHead(502).end(error.code));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const response = await client.fetch(`http://127.0.0.1:${port}/`, { method: "PUT", body: "abc" });
  assert.equal(`${response.status} ${await response.text()}`, "502 CONNECTION_REFUSED");
  await client.close();
  server.close();
});

const readOnce: Record<string, () => HttpRequestBody> = {
  "a Readable": () => Readable.from(pieces),
  "an async generator": generate,
  "an iterator": () => pieces.values(),
  "an iterable of one iterator": () => {
    const made = generate();
    return { [Symbol.asyncIterator]: () => made };
  },
};

for (const protocol of PROTOCOLS) {
  test(`${protocol}: what can be read once is sent once, by calls and by an interceptor`, async () => {
    const answer = (status: number) => (request: Parameters<typeof respond>[0]) =>
      respond(request, status, Buffer.from(""));
    await scene(protocol, {}, answer(503), async ({ client, url, requests }) => {
      for (const [kind, make] of Object.entries(readOnce)) {
        const init = { method: "PUT", body: make() };
        await (await client.fetch(`${url}/first`, init)).text();
        await assert.rejects(client.fetch(`${url}/second`, init), wasRead, kind);
        const twice = client.fetch(`${url}/first`, {
          ...init,
          body: make(),
          intercept: [async (request, next) => {
            await (await next(request)).text();
            return await next(request);
          }],
        });
        await assert.rejects(twice, wasRead, kind);
      }
      for (let times = 0; times < 2; times++) await (await client.fetch(url, { method: "PUT", body: pieces })).text();
      assert.equal(requests.length, 2 * Object.keys(readOnce).length + 2);
    });
  });
}
