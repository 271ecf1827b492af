import assert from "node:assert/strict";
import test from "node:test";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { basicAuth } from "hono/basic-auth";
import { bodyLimit } from "hono/body-limit";
import { etag } from "hono/etag";
import { stream } from "hono/streaming";
import { CompressionStream } from "../../lib/codecs/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { runtime } from "../support/runtime.ts";
import { serveNatively } from "../static/native_server.ts";
import { serveOnHttp } from "../static/served_handler.ts";
import { asks } from "../support/asked.ts";
import { makeServedSite, type ServedSite } from "./served_site.ts";
import { checkFiles, checkUploads } from "./site_checks.ts";

/** Serves an application: by Hono's adapter on Node, by the runtime's own server elsewhere. */
async function serving(
  build: (app: Hono, site: ServedSite) => void,
  use: (url: string, site: ServedSite) => Promise<void>,
  paths: { readonly files?: string; readonly uploads?: string } = {},
): Promise<void> {
  const site = await makeServedSite(paths);
  const app = new Hono();
  build(app, site);
  const server = runtime === "node"
    ? await serveOnHttp(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
    : serveNatively((request) => app.fetch(request));
  try {
    await use(`http://127.0.0.1:${server.port}`, site);
  } finally {
    await server.close();
    await site[Symbol.asyncDispose]();
  }
}

test("hono: files and uploads in applications that are routes of another one", () =>
  serving((app, { files, uploads }) => {
    const inner = new Hono().all("/site/*", ({ req }) => files.fetch(req.raw));
    inner.all("/uploads/*", ({ req }) => uploads.fetch(req.raw)).all("/uploads", ({ req }) => uploads.fetch(req.raw));
    app.route("/inner", inner);
  }, async (url, site) => {
    await checkFiles(`${url}/inner/site`);
    await checkUploads(`${url}/inner/uploads`, site);
  }, { files: "/inner/site/", uploads: "/inner/uploads" }));

test("hono: what is no file falls through to later routes, and then to its notFound()", () =>
  serving((app, { files }) => {
    app.use(async ({ req }, next) => {
      const answer = await files.fetch(req.raw);
      return answer.status === 404 ? await next() : answer;
    });
    app.get("/api", ({ text }) => text("api")).notFound(({ text }) => text("nobody has it", 404));
  }, async (url) => {
    await checkFiles(url);
    assert.equal((await asks(url)("GET", "/api")).body.toString(), "api");
    const none = await asks(url)("GET", "/none");
    assert.deepEqual([none.status, none.body.toString()], [404, "nobody has it"]);
  }));

test("hono: authentication, its own etag() and limits of bodies go before the handlers", () =>
  serving((app, { files, uploads }) => {
    app.use("/uploads/*", basicAuth({ username: "mill", password: "water" }), bodyLimit({ maxSize: 10 }));
    app.put("/uploads/*", ({ req }) => uploads.fetch(req.raw));
    app.use("/site/*", etag()).get("/site/*", ({ req }) => files.fetch(req.raw));
  }, async (url, { stored }) => {
    await checkFiles(`${url}/site`);
    const authorization = `Basic ${btoa("mill:water")}`;
    const put = (body: string, headers = {}): Promise<Response> =>
      fetch(`${url}/uploads/note`, { method: "PUT", body, headers });
    assert.equal((await put("short")).status, 401);
    assert.equal((await put("longer than ten", { authorization })).status, 413);
    assert.equal((await put("short", { authorization })).status, 201);
    assert.deepEqual(await stored(), { note: "short" });
  }, { files: "/site/", uploads: "/uploads" }));

test("hono: its stream() takes ours, and so does a body", () =>
  serving((app) => {
    const lines = () => ReadableStream.from(["one\n", "two\n"]).pipeThrough(new TextEncoderStream());
    app.get("/stream", (context) => stream(context, (out) => out.pipe(lines())));
    app.get("/body", ({ body }) => {
      return body(lines().pipeThrough(new CompressionStream("gzip")), 200, { "content-encoding": "gzip" });
    });
  }, async (url) => {
    for (const path of ["/stream", "/body"]) assert.equal(await (await fetch(url + path)).text(), "one\ntwo\n");
  }));
