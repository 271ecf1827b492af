import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { createCompression } from "../../lib/compression/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { precompress } from "../../lib/precompress/mod.ts";
import { writeTree } from "../support/folders.ts";
import { fastify } from "fastify";
import { Hono } from "hono";
import { compress as compressFastify, serveStatic as serveFastify } from "../../lib/frameworks/fastify.ts";
import { compress, serveStatic } from "../../lib/frameworks/hono.ts";
import { type Application, frameworks, mills, type Parts } from "./frameworks.ts";

const script = "console.log('the mill turns');\n".repeat(100);
let folder = "";
let parts: Parts;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-frameworks-"));
  await writeTree(folder, {
    "index.html": "<!doctype html><title>Mill</title>",
    "app.js": script,
    "large.txt": script.repeat(100),
  });
  await precompress(folder, { formats: ["brotli"], levels: { brotli: 1 }, include: ["app.js"], jobs: 1 });
  parts = {
    site: await createStaticHandler(folder, { headers: () => ({ "x-site": "files" }) }),
    compression: createCompression(),
  };
  await parts.compression.ready();
});

after(async () => {
  await parts.site.close();
  await rm(folder, { recursive: true, force: true });
});

for (const [name, make] of Object.entries(frameworks)) {
  /** Sends requests to an application of the framework. */
  const asking = (use: (request: Application["request"]) => Promise<void>) => async () => {
    const app = await make(parts);
    try {
      await use((path, init) => app.request(path, { signal: AbortSignal.timeout(30_000), ...init }));
    } finally {
      await app.close();
    }
  };

  test(
    `${name}: files are sent with variants, ranges, tags and for HEAD`,
    asking(async (request) => {
      const page = await request("/");
      assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
      assert.equal(page.headers.get("x-site"), "files");
      assert.match(await page.text(), /Mill/);
      const headers = { "accept-encoding": "br" };
      const answer = await request("/app.js", { headers, method: "HEAD" });
      assert.equal(answer.headers.get("content-encoding"), "br");
      assert.ok(Number(answer.headers.get("content-length")) < script.length / 5);
      assert.equal(await answer.text(), "");
      const etag = answer.headers.get("etag")!;
      const same = await request("/app.js", { headers: { ...headers, "if-none-match": etag } });
      assert.equal(same.status, 304);
      const part = await request("/app.js", { headers: { range: "bytes=0-6", "accept-encoding": "identity" } });
      assert.deepEqual([part.status, await part.text()], [206, "console"]);
      const large = await request("/large.txt", { headers: { "accept-encoding": "identity" } });
      assert.equal((await large.text()).length, script.length * 100);
    }),
  );

  test(
    `${name}: routes are answered, compressed, and what is nowhere is the framework's 404`,
    asking(async (request) => {
      const headers = { "accept-encoding": "gzip" };
      const answer = await request("/api/mills", { headers });
      assert.equal(answer.headers.get("content-encoding"), "gzip");
      assert.equal(answer.headers.get("vary")?.toLowerCase(), "accept-encoding");
      const body = new Uint8Array(await answer.arrayBuffer());
      // Nothing is decoded of what no connection was between.
      const text = body[0] === 0x1f
        ? await new Response(new Blob([body]).stream().pipeThrough(new DecompressionStream("gzip"))).text()
        : new TextDecoder().decode(body);
      assert.deepEqual(JSON.parse(text), mills);
      const missing = await request("/missing.js");
      assert.equal(missing.status, 404);
      assert.equal(missing.headers.get("x-site"), null);
      await missing.body?.cancel();
      const posted = await request("/app.js", { method: "POST", headers: { "accept-encoding": "identity" } });
      assert.deepEqual(await posted.json(), mills);
    }),
  );
}

test("Hono's text, JSON and pages are compressed, with the types and statuses that they have without", async () => {
  const app = (isCompressed: boolean) => {
    const app = new Hono();
    if (isCompressed) app.use(compress(parts.compression));
    return app.get("/text", (c) => c.text("mill ".repeat(500))).get("/html", (c) => c.html("<p>mill".repeat(500)))
      .get("/json", (c) => c.json(mills)).get("/made", (c) => c.text("mill ".repeat(500), 201, { "x-made": "1" }))
      .get("/moved", (c) => c.redirect("/text")).get("/set", (c) => {
        c.header("x-made", "1");
        return c.text("mill ".repeat(500));
      });
  };
  for (const path of ["/text", "/html", "/json", "/made", "/moved", "/set", "/nowhere"]) {
    const fields = async (isCompressed: boolean) => {
      const response = await app(isCompressed).request(path, { headers: { "accept-encoding": "gzip" } });
      const has = (name: string) => response.headers.get(name)?.toLowerCase();
      if (isCompressed) assert.equal(has("content-encoding"), /moved|nowhere/.test(path) ? undefined : "gzip", path);
      const type = has("content-type") ?? (response.body && "text/plain;charset=utf-8"); // as Bun sends it
      return [response.status, type?.replace("; ", ";"), has("x-made"), has("location"), has("accept-encoding")];
    };
    assert.deepEqual(await fields(true), await fields(false), path);
  }
});

test("a request that has become a WebSocket is not read again", async () => {
  const switched = Object.defineProperty(new Response(null), "status", { value: 101 });
  const upgrade = (request: Request) => {
    // As Deno.upgradeWebSocket() does.
    for (const name of ["headers", "method", "url"]) {
      Object.defineProperty(request, name, {
        get() {
          throw new TypeError("Request closed");
        },
      });
    }
    return switched;
  };
  const app = new Hono().use(compress(parts.compression)).get("/", (c) => upgrade(c.req.raw));
  for (const fetch of [parts.compression.fetch(upgrade), app.fetch]) {
    assert.equal(await fetch(new Request("http://localhost/")), switched);
  }
  const closed = new Request("http://localhost/");
  assert.equal(parts.compression.respond(closed, upgrade(closed)), switched);
});

test("middleware and plugins refuse what is no handler or compression when they are made, and say how to make one", async () => {
  const anything = (value: unknown) => value as never;
  const handler = /takes what await createStaticHandler\("dist"\) gives, and nothing else$/;
  const compressing = /takes what createCompression\(\) gives, and nothing else$/;
  const promise = Promise.resolve(parts.site);
  for (const site of ["dist", { root: "dist" }, promise, undefined]) {
    assert.throws(() => serveStatic(anything(site)), { name: "TypeError", message: handler });
    await assert.rejects(async () => await fastify().register(serveFastify, { site: anything(site) }), {
      name: "TypeError",
      message: handler,
    });
  }
  for (const compression of [undefined, { level: 5 }, createCompression]) {
    assert.throws(() => compress(anything(compression)), { name: "TypeError", message: compressing });
    await assert.rejects(async () => await fastify().register(compressFastify, anything({ compression })), {
      name: "TypeError",
      message: compressing,
    });
  }
});
