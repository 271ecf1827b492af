/**
 * Sends events of one a second by four servers: Express, Hono, `node:http2` and the runtime's own. Prints their ports as
 * JSON. The path is `/sse` or `/ndjson`; the query is the coding, or `identity`. Each event is the time in ms at which it
 * is sent. Ends when its input does.
 */
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import process from "node:process";
import { type Compression, createCompression } from "../../lib/compression/mod.ts";

const PERIOD = 1000;
const TYPES: Readonly<Record<string, string>> = { "/sse": "text/event-stream", "/ndjson": "application/x-ndjson" };
/** A page for a browser of another origin. */
const OPEN = { "access-control-allow-origin": "*", "cache-control": "no-store" };

type Fetch = (request: Request) => Response | Promise<Response>;

const compressions = new Map<string, Compression>();
for (const coding of ["gzip", "br", "zstd"] as const) {
  compressions.set(coding, createCompression({ codings: [coding] }));
}
await Promise.all([...compressions.values()].map((compression) => compression.ready()));

function event(path: string): string {
  return path === "/sse" ? `data: ${Date.now()}\n\n` : `{"sent":${Date.now()}}\n`;
}

function placeOf(url: string): { path: string; coding: string } {
  const { pathname, search } = new URL(url, "http://localhost");
  return { path: pathname, coding: search.slice(1) };
}

function write(path: string, res: ServerResponse): void {
  res.writeHead(200, { "content-type": TYPES[path], ...OPEN });
  const timer = setInterval(() => res.write(event(path)), PERIOD);
  res.on("close", () => clearInterval(timer));
}

function compressed(req: IncomingMessage, res: ServerResponse, next: () => void): void {
  const compression = compressions.get(placeOf(req.url!).coding);
  if (compression === undefined) next();
  else compression.node(req, res, next);
}

function handle(req: IncomingMessage, res: ServerResponse): void {
  compressed(req, res, () => write(placeOf(req.url!).path, res));
}

function streamed(path: string): Response {
  let timer: ReturnType<typeof setInterval>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      timer = setInterval(() => controller.enqueue(encoder.encode(event(path))), PERIOD);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: { "content-type": TYPES[path], ...OPEN } });
}

function byCoding(fetch: Fetch): Fetch {
  const wrapped = new Map([...compressions].map(([coding, compression]) => [coding, compression.fetch(fetch)]));
  return (request) => (wrapped.get(placeOf(request.url).coding) ?? fetch)(request);
}

async function serve(fetch: Fetch): Promise<number> {
  const { Bun, Deno } = globalThis as unknown as {
    Bun?: { serve(options: object): { port: number } };
    Deno?: { serve(options: object, handler: Fetch): { addr: { port: number } } };
  };
  if (Bun) return Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 60, fetch }).port;
  if (Deno) return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, fetch).addr.port;
  const { getRequestListener } = await import("@hono/node-server");
  return await listen(createHttp(getRequestListener(fetch) as never));
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

/** The part of an Express application used here; it has no types of its own. */
interface Application {
  (req: IncomingMessage, res: ServerResponse): void;
  use(middleware: typeof compressed): void;
  get(path: string, answer: (req: IncomingMessage, res: ServerResponse) => void): void;
}

async function express(): Promise<number> {
  const { default: makeApp } = await import("express" as string) as { default: () => Application };
  const app = makeApp();
  app.use(compressed);
  for (const path of Object.keys(TYPES)) app.get(path, (_, res) => write(path, res));
  return await listen(createHttp(app));
}

async function hono(): Promise<number> {
  const { Hono } = await import("hono");
  const app = new Hono();
  for (const path of Object.keys(TYPES)) app.get(path, () => streamed(path));
  return await serve(byCoding((request) => app.fetch(request)));
}

const ports = {
  express: await express(),
  hono: await hono(),
  "node:http2": await listen(createHttp2(handle as never) as unknown as Server),
  server: await serve(byCoding((request) => streamed(placeOf(request.url).path))),
};
console.log(JSON.stringify(ports));
process.stdin.on("end", () => process.exit(0)).resume();
