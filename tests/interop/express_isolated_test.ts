import assert from "node:assert/strict";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import test from "node:test";
import { CompressionStream } from "../../lib/codecs/mod.ts";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import { pipeTo, ReadableStream } from "../../lib/streams/mod.ts";
import { until } from "../support/waits.ts";
import { serveOnHttp } from "../static/served_handler.ts";
import { asks } from "../support/asked.ts";
import { makeServedSite, script, type ServedSite } from "./served_site.ts";
import { checkFiles, checkUploads } from "./site_checks.ts";

type Next = (error?: unknown) => void;
type Handler = (request: IncomingMessage & { url: string }, response: ServerResponse, next: Next) => unknown;
type ErrorHandler = (error: Error, request: IncomingMessage, response: ServerResponse, next: Next) => unknown;

/** Express, which has no types without another package, as far as it is used here. */
interface Application extends RequestListener {
  use(...handlers: (Handler | ErrorHandler | Application)[]): this;
  use(path: string, ...handlers: (Handler | Application)[]): this;
  get(path: string, handler: Handler): this;
}
interface Express {
  (): Application;
  Router(): Application;
  json(): Handler;
  raw(options: { type: string }): Handler;
}
const name = "express";
const { default: express } = await import(name) as { default: Express };

/** Serves an application with the handlers of a site in it. */
async function serving(
  build: (app: Application, site: ServedSite) => void,
  use: (url: string, site: ServedSite) => Promise<void>,
  paths: { readonly files?: string; readonly uploads?: string } = {},
): Promise<void> {
  const site = await makeServedSite(paths);
  const app = express();
  build(app, site);
  const server = await serveOnHttp(app);
  try {
    await use(`http://127.0.0.1:${server.port}`, site);
  } finally {
    await server.close();
    await site[Symbol.asyncDispose]();
  }
}

const goOn: Handler = (request, response) => response.end(`${request.method} ${request.url} goes on`);

test("express: files are served at the root, below a path, and in a router below one", async () => {
  await serving((app, { files }) => {
    const router = express.Router();
    router.use("/files", files.node);
    app.use("/mounted", files.node).use("/deep", router).use(files.node);
  }, async (url) => {
    for (const path of ["", "/mounted", "/deep/files"]) await checkFiles(url + path);
  });
  await serving((app, { files }) => app.use("/site", files.node), (url) => checkFiles(`${url}/site`), {
    files: "/site/",
  });
});

/** The mount's own path, and the paths that a dictionary is for, as a browser sees them. */
async function checkMount(url: string, mount: string, pattern = mount): Promise<void> {
  const ask = asks(url);
  for (const query of ["", "?x=/", "?"]) {
    const { status, headers } = await ask("GET", mount + query);
    assert.deepEqual([status, new URL(String(headers.location), url + mount + query).href], [
      301,
      `${url}${mount}/${query}`,
    ]);
    assert.match((await ask("GET", `${mount}/${query}`)).body.toString(), /Mill/);
    const script = await ask("GET", `${mount}/assets/app-3f9a1c0b.js${query}`);
    assert.equal(script.headers["use-as-dictionary"], `match="${pattern}/assets/app-*.js"`);
  }
}

test("express: below a path, dictionaries and redirects are for the paths that the browser sees", () =>
  serving((app, { files }) => {
    const inner = express.Router();
    const outer = express.Router();
    inner.use("/inner", files.node);
    outer.use("/outer", inner);
    const handle: Handler = (request, response) => files.node(request, response);
    app.use("/docs", files.node).use("/deep", outer).use("/caf%C3%A9", files.node).use(
      "/of/:language/site",
      files.node,
    );
    app.use("/slash/", files.node).use("/last", handle).use(files.node);
  }, async (url) => {
    await checkMount(url, "/docs");
    await checkMount(url, "/deep/outer/inner");
    await checkMount(url, "/caf%C3%A9");
    await checkMount(url, "/of/en/site");
    await checkMount(url, "/of/a%2Fb+c/site", String.raw`/of/a%2Fb\\+c/site`);
    await checkMount(url, "/slash");
    await checkMount(url, "/last");
    const { headers } = await asks(url)("GET", "/assets/app-3f9a1c0b.js");
    assert.equal(headers["use-as-dictionary"], 'match="/assets/app-*.js"');
  }));

test("express: a URL that middleware wrote anew is no path of a mount", () =>
  serving((app, { files }) => {
    const toPage: Handler = (request, _, next) => {
      if (!request.url.includes(".")) request.url = "/";
      if (request.url === "/latest.js") request.url = "/assets/app-3f9a1c0b.js";
      next();
    };
    app.use("/below", toPage, files.node).use(toPage, files.node);
  }, async (url) => {
    const ask = asks(url);
    for (const path of ["/users/7", "/users", "/below/users/7"]) {
      const { status, body } = await ask("GET", path);
      assert.deepEqual([status, /Mill/.test(body.toString())], [200, true], path);
    }
    assert.equal((await ask("GET", "/below")).headers.location, "./below/");
    for (const mount of ["", "/below"]) {
      const { headers } = await ask("GET", `${mount}/latest.js`);
      assert.equal(headers["use-as-dictionary"], `match="${mount}/assets/app-*.js"`);
    }
  }));

test("express: what is no file falls through to the application, with its URL as it was", () =>
  serving((app, { files }) => app.use("/static", files.node).use(files.node).use(goOn), async (url) => {
    const ask = asks(url);
    assert.equal((await ask("GET", "/static/none?a")).body.toString(), "GET /static/none?a goes on");
    assert.equal((await ask("POST", "/app.js")).body.toString(), "POST /app.js goes on");
    assert.equal((await ask("GET", "/%2e%2e/package.json")).body.toString(), "GET /%2e%2e/package.json goes on");
    assert.equal((await ask("GET", "/%zz")).status, 400);
  }));

test("express: routes before the handler come first, and fields that were set are kept", () =>
  serving((app, { files }) => {
    const setFields: Handler = (_, response, next) => {
      response.setHeader("x-powered-by", "water");
      response.setHeader("vary", "Origin");
      next();
    };
    app.use(setFields).get("/app.js", (_, response) => response.end("mine")).use("/static", files.node);
  }, async (url) => {
    assert.equal((await asks(url)("GET", "/app.js")).body.toString(), "mine");
    const { headers } = await asks(url)("GET", "/static/app.js");
    assert.equal(headers["x-powered-by"], "water");
    assert.match(String(headers.vary), /origin.*accept-encoding|accept-encoding.*origin/i);
  }));

test("express: uploads are stored below the path that they are mounted at", () =>
  serving(
    (app, { uploads }) => app.use("/uploads", uploads.node),
    (url, site) => checkUploads(`${url}/uploads`, site),
  ));

test("express: behind a body parser, uploads fail in words that say what to do; parsers for other types do no harm", () =>
  serving((app, { uploads }) => {
    app.use(express.json()).use(express.raw({ type: "application/x-raw" })).use("/uploads", uploads.node);
  }, async (url, { logged, stored }) => {
    const put = (type: string): Promise<Response> =>
      fetch(`${url}/uploads/${type.slice(-3)}`, { method: "PUT", body: "{}", headers: { "content-type": type } });
    assert.equal((await put("application/json")).status, 500);
    assert.match(logged[0], /read already.*before body parsers/);
    assert.equal((await put("text/plain")).status, 201);
    assert.deepEqual(await stored(), { ain: "{}" });
  }));

test("express: errors of middleware before the handlers reach the application's error handler", () =>
  serving((app, { files, uploads }) => {
    const whoIsIt: Handler = (request, _, next) => {
      next(request.headers.authorization ? undefined : new Error("who is it?"));
    };
    app.use(whoIsIt).use("/uploads", uploads.node).use(files.node);
    const onError: ErrorHandler = (error, _request, response, _next) => {
      response.statusCode = 401;
      response.end(error.message);
    };
    app.use(onError);
  }, async (url) => {
    assert.equal((await asks(url)("GET", "/app.js")).body.toString(), "who is it?");
    assert.equal((await fetch(`${url}/uploads/x`, { method: "PUT", body: "x" })).status, 401);
    assert.ok((await asks(url)("GET", "/app.js", { authorization: "me" })).body.equals(script));
  }));

test("express: a route answers with our streams, compressed, and a visitor who leaves ends their source", async () => {
  let cancelled = 0;
  await serving((app) => {
    app.get("/page", async (_, response) => {
      response.setHeader("content-encoding", "gzip");
      const page = ReadableStream.from(["<p>", "mill"]).pipeThrough(new TextEncoderStream());
      await pipeTo(page.pipeThrough(new CompressionStream("gzip")), fromNodeWritable(response));
    }).get("/endless", (_, response) => {
      const endless = new ReadableStream<string>({
        pull: async (controller) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          controller.enqueue("x".repeat(1000));
        },
        cancel: () => void cancelled++,
      });
      return endless.pipeTo(fromNodeWritable(response)).catch(() => {}); // the visitor has left
    });
  }, async (url) => {
    assert.equal(await (await fetch(`${url}/page`)).text(), "<p>mill");
    const abort = new AbortController();
    const { body } = await fetch(`${url}/endless`, { signal: abort.signal });
    await body!.getReader().read();
    abort.abort();
    await until(() => cancelled === 1, "the source's cancel");
  });
});
