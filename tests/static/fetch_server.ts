import { type NativeServer, noNativeServer, serveNatively } from "./native_server.ts";

/** A server for fetch handlers. */
export type FetchServer = NativeServer;

/**
 * Serves `fetch` at a free port of 127.0.0.1, by the runtime's own server or, on Node, by srvx, whose requests have the
 * `url` that came, not one that `new URL()` put in order.
 */
export async function serveFetch(fetch: (request: Request) => Response | Promise<Response>): Promise<FetchServer> {
  if (!noNativeServer) return serveNatively(fetch);
  const { serve } = await import("srvx");
  const server = serve({ hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false, fetch });
  await server.ready();
  return { port: Number(new URL(server.url!).port), close: () => server.close(true) };
}
