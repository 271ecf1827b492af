import assert from "node:assert/strict";
import test from "node:test";
import { serve, type ServerHandler, type ServerMiddleware } from "srvx";
import { CompressionStream } from "../../lib/codecs/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { LineStream } from "../../lib/text/mod.ts";
import { until } from "../support/waits.ts";
import { asks } from "../support/asked.ts";
import { makeServedSite, type ServedSite } from "./served_site.ts";
import { checkFiles, checkUploads } from "./site_checks.ts";

interface Application {
  readonly fetch: ServerHandler;
  readonly middleware?: ServerMiddleware[];
}

/** Serves an application with the handlers of a site in it, by srvx's adapter for the runtime. */
async function serving(
  build: (site: ServedSite) => Application,
  use: (url: string, site: ServedSite) => Promise<void>,
  paths: { readonly files?: string; readonly uploads?: string } = {},
): Promise<void> {
  const site = await makeServedSite(paths);
  const server = serve({ ...build(site), port: 0, hostname: "127.0.0.1", silent: true, gracefulShutdown: false });
  await server.ready();
  try {
    await use(server.url!.replace(/\/$/, ""), site);
  } finally {
    await server.close(true);
    await site[Symbol.asyncDispose]();
  }
}

test("srvx: files and uploads are served side by side", () =>
  serving(({ files, uploads }) => ({
    fetch: (request) =>
      new URL(request.url).pathname.startsWith("/uploads") ? uploads.fetch(request) : files.fetch(request),
  }), async (url, site) => {
    await checkFiles(`${url}/site`);
    await checkUploads(`${url}/uploads`, site);
  }, { files: "/site/", uploads: "/uploads" }));

test("srvx: as middleware, what is no file falls through to the application", () =>
  serving(({ files }) => ({
    middleware: [async (request, next) => {
      const answer = await files.fetch(request);
      return answer.status === 404 ? next() : answer;
    }],
    fetch: (request) => new Response(`${request.method} ${new URL(request.url).pathname} goes on`),
  }), async (url) => {
    await checkFiles(url);
    assert.equal((await asks(url)("GET", "/none")).body.toString(), "GET /none goes on");
  }));

test("srvx: our streams are bodies of answers, and those of requests go through ours", () =>
  serving(() => ({
    fetch: async (request) => {
      const lines: string[] = [];
      for await (const line of request.body!.pipeThrough(new LineStream())) lines.push(line);
      const upper = ReadableStream.from(lines.map((line) => `${line.toUpperCase()}\n`));
      const body = upper.pipeThrough(new TextEncoderStream()).pipeThrough(
        new CompressionStream("gzip", { flush: true }),
      );
      return new Response(body, { headers: { "content-encoding": "gzip" } });
    },
  }), async (url) => {
    const response = await fetch(url, { method: "POST", body: "one\ntwo\n" });
    assert.equal(await response.text(), "ONE\nTWO\n");
  }));

test("srvx: a visitor who leaves ends the source of our stream", async () => {
  let cancelled = 0;
  await serving(() => ({
    fetch: () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull: async (controller) => {
            await new Promise((resolve) => setTimeout(resolve, 1));
            controller.enqueue(new Uint8Array(1000));
          },
          cancel: () => void cancelled++,
        }),
      ),
  }), async (url) => {
    const abort = new AbortController();
    const { body } = await fetch(url, { signal: abort.signal });
    await body!.getReader().read();
    abort.abort();
    await until(() => cancelled === 1, "the source's cancel");
  });
});
