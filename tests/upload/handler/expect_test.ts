import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { ConnectChain } from "../../static/connect_chain.ts";
import { filesIn } from "../resumable/exchange_case.ts";
import { RawClient } from "./raw_client.ts";
import { contentsOf, inUploads, serving } from "./serving_handler.ts";

const EXPECT = ["Expect: 100-continue", "Content-Length: 5"];

test("checkContinue() asks for the body of an upload that is welcome", () =>
  serving("node:http", {}, async ({ port, folder, logged }) => {
    const client = await RawClient.open(port);
    client.ask("PUT", "/note", EXPECT);
    assert.equal((await client.answer()).status, 100);
    assert.equal(logged.length, 0);
    client.send("hello");
    assert.equal((await client.answer()).status, 201);
    client.close();
    assert.deepEqual(await contentsOf(folder), { note: "hello" });
  }));

test("checkContinue() refuses an upload without asking for its body, and ends the connection", () =>
  serving("node:http", { accept: "image/*" }, async ({ port }) => {
    const client = await RawClient.open(port);
    client.ask("PUT", "/note", EXPECT);
    const answer = await client.answer();
    assert.equal(answer.status, 415);
    assert.equal(answer.fields.get("connection"), "close");
    client.close();
  }));

test("checkContinue() asks for nothing when name() fails", () =>
  serving("node:http", { name: () => Promise.reject(new Error("no")) }, async ({ port }) => {
    const client = await RawClient.open(port);
    client.ask("PUT", "/note", EXPECT);
    assert.equal((await client.answer()).status, 500);
    client.close();
  }));

/** Serves a chain with a check in front, an upload handler at /films, and a route that reads its body, or does not. */
async function chained(
  use: (ask: (method: string, path: string, ...lines: string[]) => Promise<string>) => Promise<void>,
): Promise<void> {
  await inUploads(async (directory) => {
    const uploads = createUploadHandler({ directory, resumable: true, log: () => {} });
    const chain = new ConnectChain();
    chain.use("/", (request, response, next) => {
      if (request.headers.authorization !== undefined) return next();
      response.writeHead(401, { connection: "close" }).end();
    });
    chain.use("/films", uploads.node);
    chain.use("/api", (request, response) => {
      let text = "";
      request.on("data", (chunk) => text += chunk).on("end", () => response.end(`api: ${text}`));
    });
    chain.use("/none", (_, response) => response.writeHead(403, { connection: "close" }).end());
    const server = createServer(chain.listener).on("checkContinue", uploads.checkContinue);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    try {
      await use(async (method, path, ...lines) => {
        const client = await RawClient.open(port);
        client.ask(method, path, [...EXPECT, ...lines]);
        let answer = await client.answer();
        const isAsked = answer.status === 100;
        if (isAsked) {
          client.send("hello");
          answer = await client.answer();
        }
        client.close();
        return `${isAsked ? "asked" : "not asked"} ${answer.status} ${path === "/api" ? answer.body : ""}`.trim();
      });
      assert.deepEqual(await filesIn(directory), { good: "hello" });
    } finally {
      server.closeAllConnections();
      server.close();
      await uploads.close();
    }
  });
}

test("checkContinue() leads through what stands in front of the handler, and by its mount", () =>
  chained(async (ask) => {
    assert.equal(await ask("PUT", "/films/evil"), "not asked 401");
    assert.equal(await ask("PUT", "/films/good", "Authorization: me"), "asked 201");
    assert.equal(await ask("PUT", "/films/good", "Authorization: me"), "not asked 409");
    assert.equal(await ask("PUT", "/films/a/b", "Authorization: me"), "not asked 409");
  }));

test("checkContinue() leaves other routes alone, which get the bodies that they read", () =>
  chained(async (ask) => {
    assert.equal(await ask("PUT", "/films/good", "Authorization: me"), "asked 201");
    assert.equal(await ask("POST", "/api", "Authorization: me"), "asked 200 api: hello");
    assert.equal(await ask("POST", "/none", "Authorization: me"), "not asked 403");
  }));

test("checkContinue() answers by the handler itself where a listener of one's own calls it", () =>
  inUploads(async (directory) => {
    const uploads = createUploadHandler({ directory });
    const server = createServer((_, response) => response.writeHead(404).end());
    server.on("checkContinue", (request, response) => uploads.checkContinue(request, response));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const client = await RawClient.open((server.address() as AddressInfo).port);
    client.ask("PUT", "/note", EXPECT);
    assert.equal((await client.answer()).status, 100);
    client.send("hello");
    assert.equal((await client.answer()).status, 201);
    client.close();
    server.closeAllConnections();
    server.close();
  }));

test("checkContinue() answers by the handler itself if the server has no listener of requests", () =>
  inUploads(async (directory) => {
    const uploads = createUploadHandler({ directory, accept: "text/*" });
    const server = createServer().on("checkContinue", uploads.checkContinue);
    await once(server.listen(0, "127.0.0.1"), "listening");
    for (const [type, status] of [["text/plain", 201], ["image/png", 415]] as const) {
      const client = await RawClient.open((server.address() as AddressInfo).port);
      client.ask("PUT", "/note", [...EXPECT, `Content-Type: ${type}`]);
      if (status === 201) {
        assert.equal((await client.answer()).status, 100);
        client.send("hello");
      }
      assert.equal((await client.answer()).status, status);
      client.close();
    }
    server.closeAllConnections();
    server.close();
    assert.deepEqual(await filesIn(directory), { note: "hello" });
  }));

for (const entry of ["fetch", "serve()"]) {
  test(`${entry}: a sender who waits to be asked is asked, and its upload stored`, () =>
    serving(entry, {}, async ({ port, folder }) => {
      const client = await RawClient.open(port);
      client.ask("PUT", "/note", EXPECT);
      assert.equal((await client.answer()).status, 100);
      client.send("hello");
      assert.equal((await client.answer()).status, 201);
      client.close();
      assert.deepEqual(await contentsOf(folder), { note: "hello" });
    }));
}
