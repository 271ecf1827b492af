/**
 * A server with all parts, ours in the places of the global streams, on the runtime that starts it: server.ts FOLDER
 * UPSTREAM. Prints its port, and ends after SIGTERM, as `lib/running.md` has it.
 */
import { uninstall } from "../../../lib/streams/install.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { BatchedWritableStream } from "../../../lib/batch/mod.ts";
import { CompressionStream, type Format } from "../../../lib/codecs/mod.ts";
import { createCompression, createEventChannel } from "../../../lib/compression/mod.ts";
import { RotatingFileWritable } from "../../../lib/files/mod.ts";
import { HttpClient } from "../../../lib/http/mod.ts";
import { fromNodeReadable, fromNodeWritable } from "../../../lib/node/mod.ts";
import { createStaticHandler } from "../../../lib/static/mod.ts";
import { CsvDecoderStream, JsonLinesEncoderStream } from "../../../lib/text/mod.ts";
import { createUploadHandler } from "../../../lib/upload/mod.ts";
import { runtime } from "../../support/runtime.ts";
import { serveNatively } from "../../static/native_server.ts";
import { sample } from "../process_state.ts";
import { eventData, pageRow, ROWS } from "./contents.ts";

const [folder, upstream] = process.argv.slice(2);
const seen = { foreign: 0, requests: 0, unhandled: [] as string[] };
process.on("unhandledRejection", (reason) => seen.unhandled.push(String((reason as Error)?.stack ?? reason)));

const lines = new RotatingFileWritable({
  directory: join(folder, "logs"),
  name: "access.log",
  append: true,
  maxFileSize: 4_000_000,
  compress: "zstd",
}).getWriter();
lines.closed.catch((error) => seen.unhandled.push(String(error)));
const site = await createStaticHandler(join(folder, "dist"), { onWarning: () => {} });
const compression = createCompression();
await compression.ready();
const client = new HttpClient({ timeout: 30_000, retries: 1 });
const events = createEventChannel({ retry: 100 });
const uploads = createUploadHandler({
  directory: join(folder, "uploads"),
  basePath: "/films/",
  maxBytes: 4_000_000,
  overwrite: true,
  resumable: true,
  digest: "sha-256",
  idleTimeout: 2000,
  log: ({ error }) => void error,
});
let event = 0;
const parent = process.ppid;
const ticking = setInterval(() => {
  if (process.ppid !== parent) process.exit(1); // the run was killed
  events.send({ id: String(++event), data: eventData(event) });
}, 20);

/** The request that the running code belongs to. */
const requests = new AsyncLocalStorage<string>();

/** Counts a context that is another request's; none at all is the runtime's own. */
function look(id: string): void {
  const found = requests.getStore();
  if (found !== undefined && found !== id) seen.foreign++;
}

function page(id: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let row = 0;
  return new ReadableStream<string>({
    pull(controller) {
      look(id);
      if (row < ROWS) controller.enqueue(pageRow(id, ++row));
      else controller.close();
    },
  }).pipeThrough(
    new TransformStream<string, Uint8Array>({
      transform(text, controller) {
        look(id);
        controller.enqueue(encoder.encode(text));
      },
    }),
  );
}

/** Answers what is made for each request. */
async function answer(request: Request, id: string): Promise<Response> {
  const { pathname } = new URL(request.url);
  const [, route, word] = pathname.split("/");
  const body = request.body as ReadableStream<Uint8Array<ArrayBuffer>> | null;
  if (route === "page") return respond(page(id), "text/html");
  if (route === "state") return Response.json({ ...seen, sample: sample(seen.requests) });
  if (route === "reload") return await site.reload().then(() => new Response("reloaded"));
  if (route === "user") {
    try {
      const response = await client.fetch(`${upstream}/users/${word}`);
      const text = await response.text();
      look(id);
      return new Response(text, { status: response.ok ? 200 : 502 });
    } catch (error) {
      look(id);
      return new Response(String(error), { status: 502 });
    }
  }
  if (body === null) return new Response("no body", { status: 400 });
  if (route === "csv") {
    return respond(
      body.pipeThrough(new CsvDecoderStream({ headers: true })).pipeThrough(new JsonLinesEncoderStream()),
      "application/jsonl",
    );
  }
  if (route === "recode") {
    return respond(body.pipeThrough(new CompressionStream(word as Format, { level: 1 })), "application/octet-stream");
  }
  let bytes = 0;
  await body.pipeTo(
    new BatchedWritableStream<Uint8Array>({
      writev(batch) {
        look(id);
        for (const { length } of batch) bytes += length;
      },
    }),
  );
  return new Response(String(bytes));
}

function respond(body: ReadableStream<Uint8Array>, type: string): Response {
  return new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>, { headers: { "content-type": type } });
}

const note = (id: string, status: number): void => {
  seen.requests++;
  if (id !== "") lines.write(`${id} ${status}\n`).catch(() => {});
};
const isDynamic = /^\/(?:page|state|reload|user|csv|recode|count)(?:\/|$)/;

/** The handler on Bun and Deno: calls `fetch()` of each part. */
const fetchHandler = compression.fetch(async (request: Request) => {
  const id = request.headers.get("x-id") ?? "";
  const { pathname } = new URL(request.url);
  const response = await requests.run(id, async () => {
    if (pathname === "/events") return events.subscribe(request);
    if (pathname.startsWith("/films/")) return await uploads.fetch(request);
    return isDynamic.test(pathname)
      ? await answer(request, id).catch((error) => new Response(String(error), { status: 500 }))
      : await site.fetch(request);
  });
  note(id, response.status);
  return response;
});

/** The handler on Node: calls `node()` of each part, and uses streams of `node:stream` for the rest. */
function nodeHandler(req: IncomingMessage, res: ServerResponse): void {
  const id = String(req.headers["x-id"] ?? "");
  res.on("close", () => note(id, res.statusCode));
  requests.run(id, () => {
    compression.node(req, res);
    const url = req.url ?? "/";
    if (url === "/events") events.node(req, res);
    else if (url.startsWith("/films/")) uploads.node(req, res);
    else if (isDynamic.test(url)) answerNode(req, res, id).catch(() => res.destroy());
    else site.node(req, res);
  });
}

async function answerNode(req: IncomingMessage, res: ServerResponse, id: string): Promise<void> {
  const body = req.method === "POST" ? fromNodeReadable(req) as ReadableStream<Uint8Array<ArrayBuffer>> : null;
  const request = new Request(
    `http://127.0.0.1${req.url}`,
    { method: req.method, body, duplex: "half" } as RequestInit,
  );
  const response = await answer(request, id).catch((error) => new Response(String(error), { status: 500 }));
  res.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) res.end();
  else await response.body.pipeTo(fromNodeWritable(res));
}

async function listen(): Promise<{ readonly port: number; close(): Promise<unknown> }> {
  if (runtime !== "node") return serveNatively(fetchHandler);
  const server = createServer(
    { requestTimeout: 0, headersTimeout: 5000, connectionsCheckingInterval: 1000 },
    nodeHandler,
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): Promise<unknown> => {
    const closed = once(server, "close");
    server.close();
    return closed;
  };
  return { port: (server.address() as AddressInfo).port, close };
}

const server = await listen();
console.log(server.port);
process.once("SIGTERM", async () => {
  const closed = server.close();
  clearInterval(ticking);
  events.close();
  await uploads.close();
  await closed;
  await site.close();
  await client.close();
  await lines.close();
  uninstall();
  if (runtime === "deno") process.exit(); // reads of bodies whose senders left may never end
});
