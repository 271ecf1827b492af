/**
 * Starts the server of one contestant, prints its port as JSON, and then, for every line of standard input, the CPU time
 * that it has taken, in microseconds. Ends when its input does.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { createCompression } from "../../lib/compression/mod.ts";
import { bodies } from "./bodies.ts";

type Node = (req: IncomingMessage, res: ServerResponse) => void;
type Fetch = (request: Request) => Response | Promise<Response>;

const compression = createCompression();
await compression.ready();

function answer(request: Request): Response {
  const { type, text } = bodies[new URL(request.url).pathname];
  return new Response(text, { headers: { "content-type": type } });
}

function listen(handle: Node): Promise<number> {
  const server = createServer(handle);
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

/** Serves with the runtime's own server; on Node with Hono's. */
async function serve(fetch: Fetch, options: object = {}): Promise<number> {
  const { Bun, Deno } = globalThis as unknown as {
    Bun?: { serve(options: object): { port: number } };
    Deno?: { serve(options: object, handler: Fetch): { addr: { port: number } } };
  };
  if (Bun) return Bun.serve({ port: 0, hostname: "127.0.0.1", fetch }).port;
  if (Deno) return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {}, ...options }, fetch).addr.port;
  const { getRequestListener } = await import("@hono/node-server");
  return await listen(getRequestListener(fetch) as unknown as Node);
}

// deno-lint-ignore no-explicit-any
const load = async (name: string): Promise<any> => (await import(name)).default;

async function express(middleware: unknown): Promise<number> {
  const app = (await load("express"))();
  if (middleware) app.use(middleware);
  for (const [path, { type, text }] of Object.entries(bodies)) {
    app.get(path, (_: unknown, res: { type(type: string): { send(text: string): void } }) => res.type(type).send(text));
  }
  return await listen(app);
}

async function fastify(compress?: "theirs" | "ours"): Promise<number> {
  const app = (await load("fastify"))();
  if (compress === "theirs") await app.register(await load("@fastify/compress"), { encodings: ["gzip", "identity"] });
  if (compress === "ours") {
    app.addHook("onRequest", (req: { raw: IncomingMessage }, reply: { raw: ServerResponse }, done: () => void) => {
      compression.node(req.raw, reply.raw, done);
    });
  }
  for (const [path, { type, text }] of Object.entries(bodies)) {
    app.get(
      path,
      (_: unknown, reply: { type(type: string): { send(text: string): void } }) => reply.type(type).send(text),
    );
  }
  await app.listen({ port: 0, host: "127.0.0.1" });
  return app.server.address().port;
}

async function hono(compress?: "theirs" | "ours"): Promise<number> {
  const { Hono } = await import("hono");
  const app = new Hono();
  if (compress === "theirs") app.use((await import("hono/compress")).compress());
  for (const [path, { type, text }] of Object.entries(bodies)) {
    app.get(path, (c) => c.body(text, 200, { "content-type": type }));
  }
  return await serve(
    compress === "ours" ? compression.fetch((request) => app.fetch(request)) : (request) => app.fetch(request),
  );
}

const contestants: Readonly<Record<string, () => Promise<number>>> = {
  "express": () => express(undefined),
  "express, compression": async () => express((await load("compression"))()),
  "express, ours": () => express(compression.node),
  "fastify": () => fastify(),
  "fastify, @fastify/compress": () => fastify("theirs"),
  "fastify, ours": () => fastify("ours"),
  "hono": () => hono(),
  "hono, hono/compress": () => hono("theirs"),
  "hono, ours": () => hono("ours"),
  "server": () => serve(answer),
  "server, Deno's own": () => serve(answer, { automaticCompression: true }),
  "server, ours": () => serve(compression.fetch(answer)),
};

console.log(JSON.stringify({ port: await contestants[process.argv[2]]() }));
for await (const _ of createInterface({ input: process.stdin })) {
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ cpu: user + system }));
}
process.exit(0);
