import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import test from "node:test";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { createUploadHandler, type UploadHandler, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { runtime } from "../../support/runtime.ts";
import { ConnectChain, type MountedRequest } from "../../static/connect_chain.ts";
import { serveNatively } from "../../static/native_server.ts";
import { serveOnHttp } from "../../static/served_handler.ts";
import { contentsOf, inUploads } from "./serving_handler.ts";

interface Application {
  readonly url: string;
  readonly folder: string;
  /** The logged statuses, with the messages of errors. */
  readonly logged: string[];
}

/** Serves a chain while `use` runs. */
function chained(
  build: (chain: ConnectChain, handler: UploadHandler) => void,
  use: (application: Application) => Promise<void>,
  options: Partial<UploadHandlerOptions> = {},
): Promise<void> {
  return inUploads(async (folder) => {
    const logged: string[] = [];
    const handler = createUploadHandler({
      directory: folder,
      log: ({ status, error }) => logged.push(`${status} ${error instanceof Error ? error.message : ""}`),
      ...options,
    });
    const chain = new ConnectChain();
    build(chain, handler);
    const { port, close } = await serveOnHttp(chain.listener);
    try {
      await use({ url: `http://127.0.0.1:${port}`, folder, logged });
    } finally {
      await close();
    }
  });
}

/** Reads and stores a request's body, as body parsers do. */
function parseBody(request: MountedRequest, _: ServerResponse, next: () => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
    (request as { body?: unknown }).body = Buffer.concat(chunks);
    next();
  });
}

const put = (url: string, body = "hello"): Promise<Response> => fetch(url, { method: "PUT", body });

for (const [mount, basePath] of [["/files", "/"], ["/", "/files/"], ["/files", "/files/"]]) {
  test(`in a chain at ${mount} with the base path ${basePath}, files are stored below /files`, () =>
    chained((chain, handler) => chain.use(mount, handler.node), async ({ url, folder }) => {
      const response = await put(`${url}/files/note%201`);
      assert.equal(response.status, 201);
      assert.equal(response.headers.get("location"), "/files/note%201");
      const posted = await fetch(`${url}/files`, { method: "POST", body: "world" });
      assert.equal(posted.status, 201);
      assert.match(posted.headers.get("location")!, /^\/files\/[^/]+$/);
      assert.deepEqual(Object.values(await contentsOf(folder)).sort(), ["hello", "world"]);
    }, { basePath }));
}

test("in a chain, other methods and paths go on, and are not logged", () =>
  chained((chain, handler) => {
    chain.use("/", handler.node).use("/", (request, response) => response.end(`next: ${request.method}`));
  }, async ({ url, logged }) => {
    assert.equal(await (await fetch(`${url}/files/note`)).text(), "next: GET");
    assert.equal(await (await fetch(`${url}/files/note`, { method: "DELETE" })).text(), "next: DELETE");
    assert.equal(await (await put(`${url}/other`)).text(), "next: PUT");
    assert.equal((await put(`${url}/files/note`)).status, 201);
    assert.deepEqual(logged, ["201 "]);
  }, { basePath: "/files" }));

test("in a chain, only the names of sessions that exist are taken for theirs", () =>
  chained((chain, handler) => {
    chain.use("/", handler.node).use("/", (request, response) => response.end(`next: ${request.method}`));
  }, async ({ url, logged }) => {
    const name = "9e107d9d372bb6826bd81d3542a419d6";
    for (const headers of [{ accept: "*/*" }, { "sec-fetch-site": "cross-site" }] as HeadersInit[]) {
      for (const method of ["GET", "DELETE", "PATCH"]) {
        assert.equal(await (await fetch(`${url}/${name}`, { method, headers })).text(), `next: ${method}`);
      }
      assert.equal((await fetch(`${url}/${name}`, { method: "HEAD", headers })).status, 200);
    }
    assert.deepEqual(logged, []);
    const tus = { "tus-resumable": "1.0.0" };
    assert.equal((await fetch(`${url}/${name}`, { method: "HEAD", headers: tus })).status, 404);
    const created = await fetch(url, { method: "POST", headers: { ...tus, "upload-length": "5" } });
    const session = new URL(created.headers.get("location")!, url);
    assert.equal((await fetch(session, { method: "HEAD", headers: tus })).headers.get("upload-offset"), "0");
    assert.equal((await fetch(session, { method: "DELETE", headers: tus })).status, 204);
    assert.equal(await (await fetch(session)).text(), "next: GET");
  }, { resumable: true }));

test("in a chain, behind a body parser, an upload is answered with 500, and the log says what to do", () =>
  chained((chain, handler) => chain.use("/", parseBody).use("/", handler.node), async ({ url, folder, logged }) => {
    const response = await put(`${url}/note`);
    assert.equal(response.status, 500);
    assert.equal((await response.json()).code, "INTERNAL");
    assert.equal(logged.length, 1);
    assert.match(logged[0], /^500 .*read already.*before body parsers/);
    assert.deepEqual(await contentsOf(folder), {});
  }));

test("in a chain, fields that were set before are kept", () =>
  chained((chain, handler) => {
    chain.use("/", (_, response, next) => {
      response.setHeader("Access-Control-Allow-Origin", "*");
      next();
    }).use("/", handler.node);
  }, async ({ url }) => {
    for (const status of [201, 409]) {
      const response = await put(`${url}/note`);
      assert.equal(response.status, status);
      assert.equal(response.headers.get("access-control-allow-origin"), "*");
      await response.text();
    }
  }));

test("in a chain, an upload that is answered already is left alone", () =>
  chained((chain, handler) => {
    chain.use("/", (request, response, next) => {
      request.resume();
      response.end("mine");
      next();
    }).use("/", handler.node);
  }, async ({ url, logged }) => {
    assert.equal(await (await put(`${url}/note`)).text(), "mine");
    assert.deepEqual(logged, []);
  }));

test("fetch() of a Request whose body was read already is answered with 500, and the log says what to do", () =>
  inUploads(async (directory) => {
    const errors: unknown[] = [];
    const { fetch } = createUploadHandler({ directory, log: ({ error }) => errors.push(error) });
    const request = new Request("http://localhost/note", { method: "PUT", body: "hello" });
    await request.text();
    assert.equal((await fetch(request)).status, 500);
    assert.match(String(errors[0]), /read already.*before body parsers/);
  }));

test("hono: files are stored, and refused, behind middleware, on a connection that goes on", () =>
  inUploads(async (directory) => {
    const handler = createUploadHandler({ directory, basePath: "/files", maxBytes: 100_000 });
    const app = new Hono();
    app.use(cors());
    app.all("/files/*", (context) => handler.fetch(context.req.raw));
    const server = runtime === "node"
      ? await serveOnHttp(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
      : serveNatively((request) => app.fetch(request));
    const url = `http://127.0.0.1:${server.port}/files/note`;
    try {
      for (const [body, status] of [["hello", 201], ["hello", 409], ["a".repeat(1_000_000), 413]] as const) {
        const response = await put(url, body);
        assert.equal(response.status, status);
        assert.equal(response.headers.get("access-control-allow-origin"), "*");
        assert.equal((await response.json()).status, status === 201 ? undefined : status);
      }
      assert.deepEqual(await contentsOf(directory), { note: "hello" });
    } finally {
      await server.close();
    }
  }));
