import assert from "node:assert/strict";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect as connectHTTP2, createServer as createHTTP2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import test from "node:test";
import { HttpClient } from "../../lib/http/mod.ts";
import { saveBody, type SaveBodyOptions, UploadError } from "../../lib/upload/mod.ts";
import { noise } from "../support/bytes.ts";
import { inFolder } from "../support/folders.ts";
import { Connection } from "../support/connection.ts";

const bytes = noise(3_000_003, 3);

test("a request of node:http is stored, with Content-Length and in chunks", () =>
  inFolder((folder) =>
    saving(folder, {}, async (port, outcomes) => {
      const url = `http://127.0.0.1:${port}/`;
      assert.equal((await fetch(url, { method: "PUT", body: bytes })).status, 201);
      const body = new Blob([bytes]).stream();
      assert.equal((await fetch(url, { method: "PUT", body, duplex: "half" } as RequestInit)).status, 201);
      assert.deepEqual(outcomes, [bytes.length, bytes.length]);
      for (const name of ["1", "2"]) assert.ok((await readFile(join(folder, name))).equals(bytes));
    })
  ));

test("a request of node:http without a body is an empty file", () =>
  inFolder((folder) =>
    saving(folder, {}, async (port, outcomes) => {
      assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: "PUT" })).status, 201);
      assert.deepEqual(outcomes, [0]);
    })
  ));

test("a request of node:http that was paused is read", () =>
  inFolder(async (folder) => {
    const server = createServer(async (request, response) => {
      request.pause();
      await new Promise((resolve) => setTimeout(resolve, 5));
      response.end(String((await saveBody(request, join(folder, "file"))).bytes));
    });
    const port = await listening(server);
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "PUT", body: bytes });
    assert.equal(await response.text(), String(bytes.length));
    server.closeAllConnections();
    server.close();
  }));

for (
  const [name, head] of [
    ["with Content-Length", "Content-Length: 100000"],
    ["in chunks", "Transfer-Encoding: chunked"],
  ]
) {
  test(`a client of node:http that leaves half-way, ${name}, leaves nothing`, () =>
    inFolder((folder) =>
      saving(folder, {}, async (port, outcomes) => {
        const start = `PUT / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\nc350\r\n${"a".repeat(50_000)}\r\n`;
        const connection = await Connection.open(port, start);
        while ((await readdir(folder)).length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        connection.socket.destroy();
        while (outcomes.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        assert.ok(outcomes[0] instanceof UploadError);
        assert.equal(outcomes[0].code, "ABORTED");
        assert.deepEqual(await readdir(folder), []);
      })
    ));
}

test("a request of node:http that is refused can be answered", () =>
  inFolder((folder) =>
    saving(folder, { maxBytes: 10 }, async (port, outcomes) => {
      const connection = await Connection.open(port, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nbegin");
      await connection.until(({ received }) => received.includes("413"));
      connection.socket.destroy();
      const chunked = await Connection.open(
        port,
        "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n",
      );
      chunked.socket.write("12345678901\r\n");
      await chunked.until(({ received }) => received.includes("413"));
      chunked.socket.destroy();
      assert.deepEqual(outcomes.map((outcome) => (outcome as UploadError).code), ["TOO_LARGE", "TOO_LARGE"]);
      assert.deepEqual(await readdir(folder), []);
    })
  ));

test("a request of node:http2 is stored, and one that is cancelled leaves nothing", () =>
  inFolder(async (folder) => {
    const outcomes: unknown[] = [];
    const server = createHTTP2Server((request, response) => {
      const done = (status: number, outcome: unknown): void => {
        outcomes.push(outcome);
        if (!response.stream?.destroyed) response.writeHead(status).end();
      };
      saveBody(request, join(folder, request.url.slice(1)))
        .then(({ bytes }) => done(201, bytes), (error) => done(400, error));
    });
    const port = await listening(server);
    const connected = () => connectHTTP2(`http://127.0.0.1:${port}`).on("error", () => {}); // Deno's, as it is destroyed
    const session = connected();
    const other = connected(); // a cancelled body without all of its bytes ends Deno's whole session
    try {
      const whole = session.request({ ":method": "PUT", ":path": "/whole" });
      whole.end(bytes);
      const [headers] = await once(whole, "response");
      assert.equal(headers[":status"], 201);
      whole.resume();
      assert.ok((await readFile(join(folder, "whole"))).equals(bytes));
      const half = session.request({ ":method": "PUT", ":path": "/half", "content-length": "100001" });
      half.on("error", () => {}).write(bytes.subarray(0, 100_000));
      while ((await readdir(folder)).length === 1) await new Promise((resolve) => setTimeout(resolve, 2));
      half.close(8);
      while (outcomes.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
      assert.ok(outcomes[1] instanceof UploadError, String(outcomes[1]));
      const unknown = other.request({ ":method": "PUT", ":path": "/unknown" });
      unknown.on("error", () => {}).write(bytes.subarray(0, 100_000));
      while ((await readdir(folder)).length === 1) await new Promise((resolve) => setTimeout(resolve, 2));
      other.destroy();
      while (outcomes.length < 3) await new Promise((resolve) => setTimeout(resolve, 2));
      assert.equal((outcomes[2] as UploadError).code, "ABORTED");
      assert.deepEqual(await readdir(folder), ["whole"]);
    } finally {
      session.destroy();
      other.destroy();
      server.close();
    }
  }));

test("a request of node:http2 that was cancelled before it is stored is one whose sender left", () =>
  inFolder(async (folder) => {
    const outcome = Promise.withResolvers<unknown>();
    const server = createHTTP2Server((request) => {
      request.stream.once("close", () => {
        saveBody(request, join(folder, "gone")).then(outcome.resolve, outcome.resolve);
      });
    });
    const port = await listening(server);
    const client = new HttpClient({ h2c: true });
    const gone = new AbortController();
    const body = new ReadableStream({ start: (controller) => controller.enqueue(bytes.subarray(0, 1000)) });
    server.once("stream", () => gone.abort());
    const init = { method: "PUT", body, signal: gone.signal, duplex: "half" } as const;
    await assert.rejects(client.fetch(`http://127.0.0.1:${port}/`, init), { name: "AbortError" });
    const error = await outcome.promise;
    assert.ok(error instanceof UploadError, String(error));
    assert.equal(error.code, "ABORTED");
    client.destroy();
    server.close();
  }));

test("a readable that was read, or is destroyed, is named", () =>
  inFolder(async (folder) => {
    const read = new PassThrough();
    read.end("text");
    for await (const _ of read) { /* somebody else reads it */ }
    const source = (readable: PassThrough) => readable as unknown as IncomingMessage;
    await assert.rejects(saveBody(source(read), join(folder, "a")), { name: "TypeError", message: /read already/ });
    Object.assign(read, { headers: {}, aborted: true }); // as http2's on Deno are, of streams that were reset early
    await assert.rejects(saveBody(source(read), join(folder, "a")), { name: "UploadError", code: "ABORTED" });
    const broken = new PassThrough();
    broken.on("error", () => {}).destroy(new Error("broken"));
    await new Promise((resolve) => setTimeout(resolve));
    await assert.rejects(saveBody(source(broken), join(folder, "a")), { message: "broken" });
    assert.deepEqual(await readdir(folder), []);
  }));

/** Runs a server on node:http that stores each body under its number, and records each outcome. */
async function saving(
  folder: string,
  options: SaveBodyOptions,
  use: (port: number, outcomes: unknown[]) => Promise<void>,
): Promise<void> {
  const outcomes: unknown[] = [];
  let number = 0;
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    saveBody(request, join(folder, String(++number)), options).then(({ bytes }) => {
      outcomes.push(bytes);
      response.writeHead(201).end();
    }, (error) => {
      outcomes.push(error);
      response.writeHead(error instanceof UploadError ? error.status : 500, { connection: "close" }).end();
    });
  });
  const port = await listening(server);
  try {
    await use(port, outcomes);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
