import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { StaticHandler } from "../../lib/static/mod.ts";
import { runtime } from "../support/runtime.ts";
import { type NativeServer, serveNatively } from "./native_server.ts";

/** The ways to a handler: its two entry points. */
export const entries = ["node", "fetch"] as const;

/** The name of an entry point of the handler. */
export type Entry = typeof entries[number];

/** Serves by `handler.node` on node:http, or by `handler.fetch` on the runtime's own server; on Node that is srvx. */
export function serveHandler(handler: StaticHandler, entry: Entry): Promise<NativeServer> {
  if (entry === "node") return serveOnHttp(handler.node);
  return runtime === "node" ? serveOnSrvx(handler.fetch) : Promise.resolve(serveNatively(handler.fetch));
}

/** Serves by a listener of node:http. */
export async function serveOnHttp(listener: Parameters<typeof createServer>[1]): Promise<NativeServer> {
  const server = createServer(listener);
  server.keepAliveTimeout = 60_000; // no connection is closed while a request comes on it, however slow the machine is
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serveOnSrvx(fetch: StaticHandler["fetch"]): Promise<NativeServer> {
  const { serve } = await import("srvx/node");
  const server = serve({ fetch, port: 0, hostname: "127.0.0.1", silent: true, gracefulShutdown: false });
  await server.ready();
  return { port: Number(new URL(server.url!).port), close: () => server.close(true) };
}
