import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import process from "node:process";
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";
import { respond } from "../faults/server_request.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const native = globalThis.fetch;
const descriptor = Object.getOwnPropertyDescriptor(globalThis, "fetch");

for (const protocol of PROTOCOLS) {
  test(`install() makes the client's fetch the global one until it is put back (${protocol})`, () =>
    scene(protocol, {}, (request) => {
      respond(request, 200, Buffer.from(`${request.method} ${request.fields.get("user-agent")}`));
    }, async ({ client, url }) => {
      const restore = client.install();
      try {
        assert.equal(fetch.name, "fetch");
        const response = await fetch(`${url}/`);
        assert.ok(response instanceof Response);
        assert.ok(response.headers instanceof Headers);
        assert.ok(response.body instanceof ReadableStream);
        assert.equal(await response.text(), "GET millrace");
        const posted = await globalThis.fetch(new Request(`${url}/`, { method: "POST", body: "grain" }));
        assert.equal(await posted.text(), "POST millrace");
        assert.equal(await (await fetch("data:,mill")).text(), "mill");
        await assert.rejects(fetch("/no/origin"), HttpError);
        assert.equal(client.stats().requests, 2);
      } finally {
        restore();
      }
      assert.equal(globalThis.fetch, native);
      assert.deepEqual(Object.getOwnPropertyDescriptor(globalThis, "fetch"), descriptor);
    }));
}

test("the functions of install() may be called in any order, and again, and restore the fetch of before", async () => {
  const orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
  for (const order of orders) {
    const clients = [new HttpClient(), new HttpClient(), new HttpClient()];
    const functions = clients.map((client) => [client.install(), globalThis.fetch] as const);
    for (const [i, which] of order.entries()) {
      functions[which][0]();
      functions[which][0]();
      await clients[which].close();
      const left = order.slice(i + 1).sort();
      assert.equal(globalThis.fetch, left.length > 0 ? functions[left.at(-1)!][1] : native, `${order} after ${i + 1}`);
    }
    assert.deepEqual(Object.getOwnPropertyDescriptor(globalThis, "fetch"), descriptor);
  }
});

test("a restored fetch, which other code has wrapped, calls the fetch of before", async () => {
  await using client = new HttpClient();
  const restore = client.install();
  const installed = globalThis.fetch;
  const wrapped: typeof fetch = (...args) => installed(...args);
  globalThis.fetch = wrapped;
  restore();
  assert.equal(globalThis.fetch, wrapped);
  await client.close();
  assert.equal(await (await fetch("data:,mill")).text(), "mill");
  Object.defineProperty(globalThis, "fetch", descriptor!);
});

test("an installed fetch leaves other schemes to the one before", async () => {
  await using client = new HttpClient();
  const restore = client.install();
  try {
    const file = fetch(new URL(import.meta.url)).then((response) => response.text());
    // Node's own fetch knows no files.
    if (process.versions.bun || process.versions.deno) assert.match(await file, /knows no files/);
    else await assert.rejects(file, (error) => error instanceof TypeError && !(error instanceof HttpError));
  } finally {
    restore();
  }
});

test("an installed fetch rejects whatever it is given, and never throws at once", async () => {
  await using client = new HttpClient();
  const restore = client.install();
  const thrown = new Error("no URL today");
  const input = {
    toString(): string {
      throw thrown;
    },
  } as URL;
  try {
    const pending = fetch(input);
    await assert.rejects(pending, (error) => error === thrown);
  } finally {
    restore();
  }
});
