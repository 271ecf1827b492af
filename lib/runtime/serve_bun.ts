import type { Listening, ListenOptions } from "./serve_options.ts";

/** The parts of a server of `Bun.serve` used here. */
interface BunServer {
  readonly port: number;
  /** Requests whose answer is not sent yet. */
  readonly pendingRequests: number;
  stop(closeActiveConnections: boolean): Promise<void>;
}
type BunServe = (options: {
  hostname: string;
  port: number;
  tls?: { cert: string; key: string };
  idleTimeout: number;
  maxRequestBodySize: number;
  development: boolean;
  reusePort: boolean;
  fetch: ListenOptions["fetch"];
}) => BunServer;

/** A client may read nothing for this long, in seconds; Bun's default of 10 is short for slow ones. */
const IDLE = 60;

/** Listens with `Bun.serve`. */
export function listenOnBun({ fetch, address, port, tls }: ListenOptions): Promise<Listening> {
  const { serve } = (globalThis as unknown as { Bun: { serve: BunServe } }).Bun;
  const server = serve({
    hostname: address,
    port,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
    idleTimeout: IDLE,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // Bun would refuse more than 128 MiB before our handlers are asked
    development: false,
    reusePort: false, // without development its default is to share the port with whoever does the same
    fetch: (request, server) => fetch(request, server),
  });
  return Promise.resolve({
    port: server.port,
    finish: () => finish(server),
    cut: () => void server.stop(true),
  });
}

/** Bun's own promise waits for connections too that have not asked for anything, until they time out. */
function finish(server: BunServer): Promise<void> {
  void server.stop(false);
  return new Promise((resolve) => {
    const watch = setInterval(() => {
      if (server.pendingRequests > 0) return;
      clearInterval(watch);
      resolve();
    }, 25);
  });
}
