/**
 * Serves very many pages that are written as streams, with ours installed in the place of the globals, over sockets to a
 * client in a process of its own; prints the memory of the server on the way, collected before each look.
 *
 *   npm run bench -- installed_soak [--requests 200000]
 */
import { uninstall } from "../lib/streams/install.ts";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseArgs } from "node:util";
import { circumstances, table } from "./results.ts";

const { values } = parseArgs({ options: { requests: { type: "string", default: "200000" } } });
const MEGABYTE = 1e6;

interface BunRuntime {
  gc(force: boolean): void;
  serve(options: object): { readonly port: number; stop(force: boolean): void };
}
interface DenoRuntime {
  serve(options: object, handler: unknown): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
}
const { Bun: bun, Deno: deno } = globalThis as { Bun?: BunRuntime; Deno?: DenoRuntime };

function page(path: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let row = 0;
  return new ReadableStream<string>({
    pull(controller) {
      if (row < 20) controller.enqueue(`<p>${path} row ${++row}</p>\n`);
      else controller.close();
    },
  }).pipeThrough(
    new TransformStream<string, Uint8Array>({
      transform: (text, controller) => controller.enqueue(encoder.encode(text)),
    }),
  );
}

const answer = (request: Request): Response =>
  new Response(page(new URL(request.url).pathname) as ReadableStream<Uint8Array<ArrayBuffer>>);

/** Starts the runtime's own server, and tells its port and how it is stopped. */
async function serve(): Promise<{ port: number; stop: () => unknown }> {
  const hostname = "127.0.0.1";
  if (bun) {
    const server = bun.serve({ port: 0, hostname, fetch: answer });
    return { port: server.port, stop: () => server.stop(true) };
  }
  if (deno) {
    const server = deno.serve({ port: 0, hostname, onListen() {} }, answer);
    return { port: server.addr.port, stop: () => server.shutdown() };
  }
  const server = createServer((request, response) => {
    const { body } = answer(new Request(`http://${hostname}${request.url}`));
    Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
  });
  await new Promise<void>((listening) => server.listen(0, hostname, listening));
  return { port: (server.address() as AddressInfo).port, stop: () => server.close() };
}

function collect(): void {
  if (bun) return bun.gc(true);
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

const { port, stop } = await serve();
const client = spawn("node", [
  fileURLToPath(new URL("installed_soak_client.ts", import.meta.url)),
  String(port),
  values.requests,
], {
  stdio: ["ignore", "pipe", "inherit"],
});
const rows: string[][] = [];
for await (const done of createInterface({ input: client.stdout })) {
  collect();
  const { rss, heapUsed } = process.memoryUsage();
  rows.push([done, (rss / MEGABYTE).toFixed(0), (heapUsed / MEGABYTE).toFixed(1)]);
}
await stop();
uninstall();
console.log(circumstances());
console.log(table(["requests", "RSS, MB", "heap, MB"], rows));
if (rows.at(-1)?.[0] !== values.requests) throw new Error("the client ended early");
