import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { serveNatively } from "../../tests/static/native_server.ts";
import type { NodeHandler, WebHandler } from "./programs/program.ts";

const address = { port: 0, hostname: "127.0.0.1" };

/** Serves by `Bun.serve`, `Deno.serve`, or on Node by Hono's server, and resolves to the port. */
export async function serveWeb(handler: WebHandler): Promise<number> {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  if (bun || deno) return serveNatively(handler).port;
  const { serve } = await import("@hono/node-server");
  return await new Promise((listening) => {
    serve({ fetch: handler, ...address }, ({ port }) => listening(port));
  });
}

/** Serves by `node:http`, and resolves to the port. */
export function serveNode(handler: NodeHandler): Promise<number> {
  const server = createServer(handler);
  return new Promise((listening) => {
    server.listen(address.port, address.hostname, () => listening((server.address() as AddressInfo).port));
  });
}
