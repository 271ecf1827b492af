import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { HttpRequestBody } from "../../../lib/http/mod.ts";
import { PROTOCOLS, scene } from "../scene.ts";
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
