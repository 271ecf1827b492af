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

test("restore() leaves alone what has come in between, and may be called twice", async () => {
  await using one = new HttpClient();
  await using other = new HttpClient();
  const restoreOne = one.install();
  const installed = globalThis.fetch;
  const restoreOther = other.install();
  restoreOne();
  assert.notEqual(globalThis.fetch, installed);
  restoreOther();
  assert.equal(globalThis.fetch, installed);
  restoreOther();
  restoreOne();
  restoreOne();
  assert.equal(globalThis.fetch, native);
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
