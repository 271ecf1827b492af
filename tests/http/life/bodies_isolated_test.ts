import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { gzipSync } from "node:zlib";
import type { HttpClient, HttpClientOptions, HttpRequestInit } from "../../../lib/http/mod.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { leavesNothing } from "../leaves_nothing.ts";

/** 64 MiB of zeros, three times packed. */
const BOMB = gzipSync(gzipSync(gzipSync(Buffer.alloc(64 << 20))));

function bare(request: ServerRequest, status: number): void {
  request.head(status, status === 205 ? { "content-length": "0" } : {});
  request.end();
}

const bodies: Record<string, (request: ServerRequest) => void> = {
  "/small": (request) => respond(request, 200, Buffer.from("small")),
  "/empty": (request) => respond(request, 200, Buffer.from("")),
  "/204": (request) => bare(request, 204),
  "/205": (request) => bare(request, 205),
  "/304": (request) => bare(request, 304),
  "/gzip": (request) => respond(request, 200, gzipSync("x".repeat(1000)), { "content-encoding": "gzip" }),
  "/bomb": (request) => respond(request, 200, BOMB, { "content-encoding": "gzip, gzip, gzip" }),
  "/endless": (request) => {
    request.head(200);
    for (let i = 0; i < 100; i++) request.data(Buffer.alloc(10_000));
  },
};

function answer(request: ServerRequest): void {
  const status = /^\/status\/(\d+)$/.exec(request.path)?.[1];
  if (status === undefined) bodies[request.path](request);
  else respond(request, Number(status), Buffer.from("odd"));
}

function serve(
  protocol: "http/1.1" | "h2c",
  client: HttpClientOptions,
  act: (fetch: (path: string, init?: HttpRequestInit) => Promise<Response>, client: HttpClient) => Promise<void>,
): Promise<void> {
  const owner = { settings: {}, violations: [], onRequest: answer };
  return leavesNothing({
    client: { h2c: protocol === "h2c", ...client },
    onSocket: (socket) => void (protocol === "h2c" ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner)),
  }, async ({ client, url }) => {
    await act((path, init) => client.fetch(url + path, init), client);
  });
}

/** Waits until the last byte of all responses is there. */
async function arrived(client: HttpClient): Promise<void> {
  while (client.stats().active > 0) await new Promise((resolve) => setTimeout(resolve, 2));
}

const readings: Record<string, (response: Response) => Promise<unknown>> = {
  "text()": (response) => response.text(),
  "its stream": (response) => response.body!.getReader().read(),
  "its stream, into a view": (response) => response.body!.getReader({ mode: "byob" }).read(new Uint8Array(9)),
  "iteration": async (response) => {
    for await (const _ of response.body!);
  },
  "a clone": (response) => response.clone().text(),
};

for (const protocol of ["http/1.1", "h2c"] as const) {
  test(`statuses above 599 are responses as those of 5xx are (${protocol})`, () =>
    serve(protocol, {}, async (fetch) => {
      for (const status of [600, 799, 999]) {
        const response = await fetch(`/status/${status}`);
        assert.equal(response.status, status);
        assert.equal(response.ok, false);
        assert.equal(response.clone().status, status);
        assert.equal(await response.text(), "odd");
      }
    }));

  test(`a response without a body is not what \`integrity\` says (${protocol})`, () =>
    serve(protocol, {}, async (fetch) => {
      const integrity = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="; // of no bytes at all
      for (const path of ["/204", "/205", "/304"]) {
        assert.equal(await failureOf(fetch(path, { integrity })), "INTEGRITY_MISMATCH");
      }
      assert.equal(await failureOf(fetch("/small", { method: "HEAD", integrity })), "INTEGRITY_MISMATCH");
      assert.equal((await fetch("/204", { integrity: "md5-abc" })).status, 204);
      assert.equal(await (await fetch("/empty", { integrity })).text(), "");
    }));

  for (const [how, read] of Object.entries(readings)) {
    for (const path of ["/small", "/gzip"]) {
      test(`the body of ${path} that has arrived is not there after an abort: ${how} (${protocol})`, () =>
        serve(protocol, {}, async (fetch, client) => {
          const controller = new AbortController();
          const response = await fetch(path, { signal: controller.signal });
          await arrived(client);
          controller.abort(new Error("too late"));
          await assert.rejects(read(response), /too late/);
        }));

      test(`the body of ${path} that has arrived is not there after destroy(): ${how} (${protocol})`, () =>
        serve(protocol, {}, async (fetch, client) => {
          const response = await fetch(path);
          await arrived(client);
          client.destroy(new Error("the end"));
          assert.equal(await failureOf(read(response)), "CLIENT_CLOSED");
        }));
    }
  }

  test(`a clone that was made before is not there after an abort either (${protocol})`, () =>
    serve(protocol, {}, async (fetch, client) => {
      const controller = new AbortController();
      const response = await fetch("/small", { signal: controller.signal });
      await arrived(client);
      const clone = response.clone();
      controller.abort(new Error("too late"));
      await assert.rejects(clone.text(), /too late/);
      await assert.rejects(response.text(), /too late/);
    }));

  test(`what was read whole before an abort stays read (${protocol})`, () =>
    serve(protocol, {}, async (fetch) => {
      const controller = new AbortController();
      const { signal } = controller;
      const response = await fetch("/small", { signal });
      const reader = response.body!.getReader();
      assert.equal((await reader.read()).value?.length, 5);
      assert.equal((await reader.read()).done, true);
      controller.abort(new Error("too late"));
      await reader.closed;
      await assert.rejects(fetch("/small", { signal }), /too late/);
    }));

  for (const end of ["an abort", "destroy()"]) {
    test(`decoding ends with ${end} although all bytes are there (${protocol})`, () =>
      serve(protocol, {}, async (fetch, client) => {
        const controller = new AbortController();
        const response = await fetch("/bomb", { signal: controller.signal });
        await arrived(client);
        let bytes = 0;
        const reading = (async () => {
          for await (const chunk of response.body!) bytes += chunk.length;
        })();
        setTimeout(() => end === "destroy()" ? client.destroy() : controller.abort(new Error("enough")), 1);
        await assert.rejects(reading, end === "destroy()" ? { code: "CLIENT_CLOSED" } : /enough/);
        assert.ok(bytes < 64 << 20);
      }));
  }

  test(`\`maxResponseSize\` ends a body that is larger once it is decoded (${protocol})`, () =>
    serve(protocol, { maxResponseSize: 1 << 20 }, async (fetch) => {
      for (const [how, read] of Object.entries(readings)) {
        if (how !== "its stream" && how !== "its stream, into a view") {
          assert.equal(await failureOf(read(await fetch("/bomb"))), "LIMIT_EXCEEDED", how);
        }
      }
      let bytes = 0;
      const reader = (await fetch("/bomb")).body!.getReader();
      const error = await (async () => {
        for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.length;
      })().catch((reason) => reason);
      assert.equal(error?.code, "LIMIT_EXCEEDED");
      assert.match(error.message, /larger than 1048576 bytes \(maxResponseSize\)/);
      assert.ok(bytes <= 1 << 20);
    }));

  test(`\`maxResponseSize\` counts decoded bytes, to the last (${protocol})`, () =>
    serve(protocol, {}, async (fetch) => {
      assert.equal((await (await fetch("/gzip", { maxResponseSize: 1000 })).text()).length, 1000);
      assert.equal(await failureOf((await fetch("/gzip", { maxResponseSize: 999 })).text()), "LIMIT_EXCEEDED");
      assert.equal(await (await fetch("/small", { maxResponseSize: 5 })).text(), "small");
      assert.equal(await failureOf((await fetch("/small", { maxResponseSize: 4 })).text()), "LIMIT_EXCEEDED");
      assert.equal(await failureOf((await fetch("/small", { maxResponseSize: 0 })).text()), "LIMIT_EXCEEDED");
    }));

  test(`\`maxResponseSize\` ends a response that never does (${protocol})`, () =>
    serve(protocol, { maxResponseSize: 500_000 }, async (fetch) => {
      assert.equal(await failureOf((await fetch("/endless")).arrayBuffer()), "LIMIT_EXCEEDED");
    }));
}
