import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { gzipSync } from "node:zlib";
import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { pause, until } from "../support/waits.ts";
import { writeTree } from "../support/folders.ts";
import { ConnectChain, type Middleware } from "./connect_chain.ts";
import { PersistentConnection, type ReceivedAnswer } from "./persistent_connection.ts";
import { exchange, requestBytes } from "../support/raw_exchange.ts";
import { serveOnHttp } from "./served_handler.ts";

const script = Buffer.from("console.log('the mill turns');\n".repeat(100));
const large = Buffer.alloc(700_000, "the content of a large file\n");

let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-middleware-"));
  await writeTree(folder, {
    "app.js": script,
    "app.js.gz": gzipSync(script),
    "docs/index.html": "<!doctype html><title>Manual</title>",
    "large.bin": large,
    "picture.png": "not really one",
  });
});

after(() => rm(folder, { recursive: true, force: true }));

interface Scene {
  readonly port: number;
  readonly client: PersistentConnection;
  readonly handler: StaticHandler;
}

/** Serves a chain that `build` makes with the handler. */
async function chained(
  build: (handler: StaticHandler) => ConnectChain,
  use: (scene: Scene) => Promise<void>,
  options: StaticHandlerOptions = {},
): Promise<void> {
  const handler = await createStaticHandler(folder, options);
  const server = await serveOnHttp(build(handler).listener);
  const client = new PersistentConnection(server.port);
  try {
    await use({ port: server.port, client, handler });
  } finally {
    client.close();
    await server.close();
    await handler.close();
  }
}

/** Returns the sorted names in `Vary`. */
function varyOf({ fields }: ReceivedAnswer): string[] {
  return (fields.get("vary") ?? "").toLowerCase().split(/, */).sort();
}

const setting = (name: string, value: string | string[]): Middleware => (_request, response, next) => {
  response.setHeader(name, value);
  next();
};

test("below a prefix: files are found by what is left of the path", () =>
  chained((handler) => new ConnectChain().use("/static", handler.node), async ({ client }) => {
    const answer = await client.ask("GET", "/static/app.js?version=2");
    assert.equal(answer.status, 200);
    assert.ok(answer.body.equals(script));
    assert.ok((await client.ask("GET", "/static/large.bin")).body.equals(large));
    assert.equal((await client.ask("GET", "/app.js")).body.toString(), "nobody has it");
    assert.equal((await client.ask("GET", "/statics/app.js")).body.toString(), "nobody has it");
  }));

test("below a prefix: the redirect to a folder leads below it", () =>
  chained((handler) => new ConnectChain().use("/static", handler.node), async ({ client }) => {
    const { status, fields } = await client.ask("GET", "/static/docs?page=1");
    assert.equal(status, 301);
    const location = new URL(fields.get("location")!, "http://127.0.0.1/static/docs?page=1");
    assert.equal(location.pathname + location.search, "/static/docs/?page=1");
    assert.equal((await client.ask("GET", "/static/docs/")).status, 200);
  }));

test("below a prefix that is also the base path, files are found by the whole path", () =>
  chained(
    (handler) => new ConnectChain().use("/static", handler.node).use("/", handler.node),
    async ({ client }) => {
      assert.ok((await client.ask("GET", "/static/app.js")).body.equals(script));
      assert.equal((await client.ask("GET", "/app.js")).status, 404);
    },
    { basePath: "/static/" },
  ));

test("what is no file, and methods other than GET and HEAD, go on with the request as it was", () =>
  chained((handler) =>
    new ConnectChain().use("/static", handler.node).use("/static", (request, response) => {
      response.setHeader("X-Url", `${request.url} ${request.originalUrl}`);
      response.end(`${request.method} goes on`);
    }), async ({ client }) => {
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"]) {
      const target = method === "GET" ? "/static/missing.js?a=b" : "/static/app.js?a=b";
      const { status, body, fields } = await client.ask(method, target, { "Content-Length": "0" });
      assert.equal(status, 200, method);
      assert.equal(body.toString(), `${method} goes on`);
      assert.equal(fields.get("x-url"), `${target.slice("/static".length)} ${target}`);
      assert.ok(!fields.has("etag") && !fields.has("cache-control"), method);
    }
    const head = await client.ask("HEAD", "/static/missing.js");
    assert.equal(head.status, 200);
    assert.ok(head.fields.has("x-url"));
  }));

test("a handler that is closed answers GET with 503, and leaves other methods to what follows", () =>
  chained(
    (handler) =>
      new ConnectChain().use("/", handler.node).use("/", (_request, response) => void response.end("goes on")),
    async (
      { client, handler },
    ) => {
      await handler.close();
      assert.equal((await client.ask("GET", "/app.js")).status, 503);
      for (const method of ["POST", "OPTIONS"]) {
        const { body } = await client.ask(method, "/app.js", { "Content-Length": "0" });
        assert.equal(body.toString(), "goes on");
      }
    },
  ));

test("HEAD has the fields of GET and no body, for files in memory and for streamed ones", () =>
  chained((handler) => new ConnectChain().use("/", handler.node), async ({ client }) => {
    for (const path of ["/app.js", "/large.bin", "/docs/"]) {
      const got = await client.ask("GET", path);
      const head = await client.ask("HEAD", path);
      assert.equal(head.status, 200);
      assert.equal(head.body.length, 0);
      for (const name of ["content-length", "content-type", "etag", "last-modified", "vary", "cache-control"]) {
        assert.equal(head.fields.get(name), got.fields.get(name), `${name} of ${path}`);
      }
    }
  }));

test("fields that were set before are kept, with every status", () =>
  chained((handler) =>
    new ConnectChain()
      .use("/", setting("X-Powered-By", "water"))
      .use("/", setting("Set-Cookie", ["a=1", "b=2"]))
      .use("/", handler.node), async ({ client, port }) => {
    const { fields } = await client.ask("GET", "/app.js");
    const tag = fields.get("etag")!;
    const asked: [number, string, Record<string, string>][] = [
      [200, "/app.js", {}],
      [200, "/large.bin", {}],
      [206, "/large.bin", { Range: "bytes=0-9" }],
      [206, "/app.js", { Range: "bytes=0-9" }],
      [304, "/app.js", { "If-None-Match": tag }],
      [416, "/app.js", { Range: "bytes=999999-" }],
      [412, "/app.js", { "If-Match": '"other"' }],
      [301, "/docs", {}],
      [404, "/missing", {}],
    ];
    for (const [status, path, how] of asked) {
      const answer = await client.ask("GET", path, how);
      assert.equal(answer.status, status, `${path} ${JSON.stringify(how)}`);
      assert.equal(answer.fields.get("x-powered-by"), "water", String(status));
    }
    const raw = await exchange(port, requestBytes("GET", "/app.js"));
    assert.equal(raw?.all.match(/^set-cookie: [ab]=[12]\r$/gim)?.length, 2);
  }));

test("Vary that was set before is kept beside ours, without repetition", async () => {
  const cases: [string | string[], string, string[]][] = [
    ["Origin", "/app.js", ["accept-encoding", "origin"]],
    [["Origin", "Cookie"], "/app.js", ["accept-encoding", "cookie", "origin"]],
    ["accept-encoding", "/app.js", ["accept-encoding"]],
    ["Origin, Accept-Encoding", "/app.js", ["accept-encoding", "origin"]],
    ["Origin", "/picture.png", ["origin"]],
    ["Origin", "/large.bin", ["origin"]],
    ["X-Accept-Encoding", "/app.js", ["accept-encoding", "x-accept-encoding"]],
  ];
  for (const [before, path, expected] of cases) {
    await chained(
      (handler) => new ConnectChain().use("/", setting("Vary", before)).use("/", handler.node),
      async ({ client }) => {
        const answer = await client.ask("GET", path);
        assert.deepEqual(varyOf(answer), expected, `${before} ${path}`);
        const again = await client.ask("GET", path, { "If-None-Match": answer.fields.get("etag")! });
        assert.equal(again.status, 304);
        assert.deepEqual(varyOf(again), expected, `304 ${before} ${path}`);
      },
    );
  }
});

test("our fields replace those of the same name that were set before", () =>
  chained((handler) =>
    new ConnectChain()
      .use("/", setting("cache-control", "private"))
      .use("/", setting("content-type", "text/plain"))
      .use("/", handler.node), async ({ client }) => {
    for (const path of ["/app.js", "/large.bin"]) {
      const { fields } = await client.ask("GET", path);
      assert.equal(fields.get("cache-control"), "no-cache", path);
      assert.doesNotMatch(fields.get("content-type")!, /text\/plain/, path);
    }
  }));

test("a field that headers() gives twice is sent twice, whether or not others were set before", () =>
  chained(
    (handler) =>
      new ConnectChain()
        .use("/", (request, response, next) => {
          if (request.url === "/app.js") response.setHeader("X-Powered-By", "water");
          next();
        })
        .use("/", handler.node),
    async ({ port }) => {
      for (const path of ["/app.js", "/large.bin", "/app.js"]) {
        const raw = await exchange(port, requestBytes("GET", path));
        assert.deepEqual(
          raw?.all.match(/^set-cookie: .*$/gim)?.map((line) => line.slice(12).trim()),
          ["a=1", "b=2"],
          path,
        );
        assert.equal(raw?.all.match(/^etag: /gim)?.length, 1);
      }
    },
    // Not in its type, as no other field is sent twice.
    { headers: () => new Headers([["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"]]) as unknown as Record<string, string> },
  ));

/** Wraps a response as compression middleware does, which passes on its chunks, but not their callbacks. */
const wrapping: Middleware = (_request, response, next) => {
  const { write, end } = response;
  response.write = function (this: ServerResponse, chunk: unknown): boolean {
    return write.call(this, chunk as Uint8Array, "utf8");
  } as typeof response.write;
  response.end = function (this: ServerResponse, chunk: unknown): ServerResponse {
    return end.call(this, chunk as Uint8Array, "utf8");
  } as typeof response.end;
  next();
};

test("a response whose methods are wrapped is sent all the same", () =>
  chained((handler) => new ConnectChain().use("/", wrapping).use("/", handler.node), async ({ client }) => {
    for (const [path, content] of [["/app.js", script], ["/large.bin", large]] as const) {
      assert.ok((await client.ask("GET", path)).body.equals(content), path);
    }
  }));

test("a response that was ended before is left as it is", () =>
  chained((handler) =>
    new ConnectChain().use("/ended", (request, response, next) => {
      response.end("ended before");
      handler.node(request, response, next);
    }).use("/", handler.node), async ({ client }) => {
    for (const path of ["/ended/app.js", "/ended/large.bin", "/ended/missing"]) {
      const { status, body } = await client.ask("GET", path);
      assert.equal(status, 200, path);
      assert.equal(body.toString(), "ended before", path);
    }
    assert.ok((await client.ask("GET", "/app.js")).body.equals(script));
  }));

test("requests that come at once on one connection are answered in their order", () =>
  chained((handler) => new ConnectChain().use("/", handler.node), async ({ port }) => {
    const targets = ["GET /app.js", "GET /large.bin", "HEAD /large.bin", "GET /docs/", "GET /large.bin", "GET /app.js"];
    const requests = targets.map((target, i) =>
      `${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${i === targets.length - 1 ? "Connection: close\r\n" : ""}\r\n`
    );
    const socket = connect(port, "127.0.0.1");
    socket.write(requests.join(""));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    let rest = Buffer.concat(chunks);
    for (const target of targets) {
      const end = rest.indexOf("\r\n\r\n") + 4;
      const head = rest.toString("latin1", 0, end);
      assert.match(head, /^HTTP\/1\.1 200 /, target);
      const length = target.startsWith("HEAD") ? 0 : Number(/^content-length: (\d+)\r$/im.exec(head)?.[1]);
      const body = rest.subarray(end, end + length);
      if (target === "GET /large.bin") assert.ok(body.equals(large));
      if (target === "GET /app.js") assert.ok(body.equals(script));
      rest = rest.subarray(end + length);
    }
    assert.equal(rest.length, 0);
  }));

test("clients that leave before they are answered keep nothing open", () => {
  let late = 0;
  const waiting: Middleware = (_request, _response, next) => {
    setTimeout(() => {
      late++;
      next();
    }, 100);
  };
  return chained(
    (handler) => new ConnectChain().use("/", waiting).use("/", handler.node),
    async ({ port, handler }) => {
      const paths = ["/app.js", "/large.bin", "/large.bin", "/missing"];
      for (const path of paths) {
        const socket = connect(port, "127.0.0.1");
        socket.on("error", () => {});
        // Twice, so that one waits for its turn.
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`.repeat(2));
        await pause(30);
        socket.destroy();
      }
      await until(() => late >= paths.length, "requests that go on");
      await pause(100);
      await handler.close(); // would wait for what is still being sent
    },
  );
});
