import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { gzipSync } from "node:zlib";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { cors } from "hono/cors";
import { createStaticHandler, type StaticHandler } from "../../lib/static/mod.ts";
import { runtime } from "../support/runtime.ts";
import { writeTree } from "../support/folders.ts";
import { type NativeServer, serveNatively } from "./native_server.ts";
import { PersistentConnection } from "./persistent_connection.ts";
import { serveOnHttp } from "./served_handler.ts";

const script = Buffer.from("console.log('the mill turns');\n".repeat(100));
const compressed = gzipSync(script);
const large = Buffer.alloc(3_000_000, "the content of a large file\n");

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-hono-"));
  await writeTree(folder, { "app.js": script, "app.js.gz": compressed, "large.txt": large, "plain.txt": script });
});

after(() => rm(folder, { recursive: true, force: true }));

/** Serves an application with the handler in it, by the runtime's own server; on Node by Hono's for node:http. */
async function serving(
  build: (handler: StaticHandler) => Hono,
  use: (client: PersistentConnection) => Promise<void>,
): Promise<void> {
  const handler = await createStaticHandler(folder, { basePath: "/static/" });
  const app = build(handler);
  const server: NativeServer = runtime === "node"
    ? await serveOnHttp(getRequestListener(app.fetch))
    : serveNatively((request) => app.fetch(request));
  const client = new PersistentConnection(server.port);
  try {
    await use(client);
  } finally {
    client.close();
    await server.close();
    await handler.close();
  }
}

const plain = (handler: StaticHandler): Hono =>
  new Hono()
    .get("/static/*", (context) => handler.fetch(context.req.raw))
    .get("/", (context) => context.text("home"));

/** Middleware that waits, and changes the response. */
const wrapped = (handler: StaticHandler): Hono => {
  const app = new Hono();
  app.use(cors({ origin: (origin) => origin }));
  app.use(async (context, next) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    await next();
    await new Promise((resolve) => setTimeout(resolve, 1));
    context.header("X-Powered-By", "water");
  });
  return app.get("/static/*", (context) => handler.fetch(context.req.raw));
};

for (const [name, build] of [["in an application", plain], ["behind middleware", wrapped]] as const) {
  test(`hono: ${name}, files are sent whole, in part, compressed, and not at all`, () =>
    serving(build, async (client) => {
      const origin = "https://other.example";
      const got = await client.ask("GET", "/static/app.js", { "Accept-Encoding": "gzip", Origin: origin });
      assert.equal(got.status, 200);
      assert.equal(got.fields.get("content-encoding"), "gzip");
      assert.equal(got.fields.get("content-length"), String(compressed.length));
      assert.ok(got.body.equals(compressed));
      if (build === wrapped) {
        assert.equal(got.fields.get("x-powered-by"), "water");
        assert.equal(got.fields.get("access-control-allow-origin"), origin);
        for (const what of [/accept-encoding/i, /origin/i]) assert.match(got.fields.get("vary") ?? "", what);
      }
      const tag = got.fields.get("etag")!;
      const known = await client.ask("GET", "/static/app.js", { "Accept-Encoding": "gzip", "If-None-Match": tag });
      assert.equal(known.status, 304);
      assert.equal(known.fields.get("etag"), tag);

      const whole = await client.ask("GET", "/static/large.txt");
      assert.equal(whole.status, 200);
      assert.equal(whole.fields.get("content-length"), String(large.length));
      assert.ok(whole.body.equals(large));
      const part = await client.ask("GET", "/static/large.txt", { Range: "bytes=1000-2499999" });
      assert.equal(part.status, 206);
      assert.equal(part.fields.get("content-range"), `bytes 1000-2499999/${large.length}`);
      assert.ok(part.body.equals(large.subarray(1000, 2_500_000)));
      // By its If-Range the range does not count.
      const stale = await client.ask("GET", "/static/large.txt", { Range: "bytes=0-99", "If-Range": '"another"' });
      assert.equal(stale.status, 200);
      assert.ok(stale.body.equals(large));
      assert.equal((await client.ask("GET", "/static/missing.js")).status, 404);
    }));

  test(`hono: ${name}, HEAD has no body and keeps nothing open`, () =>
    serving(build, async (client) => {
      // Hono takes the answer to GET for it, and drops the body.
      for (const [path, length] of [["app.js", script.length], ["large.txt", large.length]] as const) {
        for (let i = 0; i < 5; i++) {
          const { status, fields, body } = await client.ask("HEAD", `/static/${path}`);
          assert.equal(status, 200);
          assert.equal(fields.get("content-length"), String(length), path);
          assert.equal(body.length, 0);
        }
      }
    }));
}

test("hono: its compression leaves what is compressed alone, and compresses the rest", () =>
  serving((handler) => {
    const app = new Hono();
    app.use(compress());
    return app.get("/static/*", (context) => handler.fetch(context.req.raw));
  }, async (client) => {
    const ready = await client.ask("GET", "/static/app.js", { "Accept-Encoding": "gzip" });
    assert.ok(ready.body.equals(compressed));
    const streamed = await client.ask("GET", "/static/large.txt", { "Accept-Encoding": "gzip" });
    assert.equal(streamed.fields.get("content-encoding"), "gzip");
    assert.ok(streamed.body.length < large.length);
  }));
