import { runtime } from "../support/runtime.ts";

/** A server of the runtime's own, for fetch handlers. */
export interface NativeServer {
  readonly port: number;
  close(): Promise<void>;
}

type Fetch = (request: Request) => Response | Promise<Response>;

interface BunLike {
  serve(
    options: { hostname: string; port: number; fetch: Fetch },
  ): { port: number; stop(force: boolean): Promise<void> };
}

interface DenoLike {
  serve(options: { hostname: string; port: number; onListen: () => void }, fetch: Fetch): {
    addr: { port: number };
    shutdown(): Promise<void>;
  };
}

/** The reason for a missing server; false if there is one. */
export const noNativeServer: string | false = runtime === "node" ? "node has no server for fetch handlers" : false;

/** Serves `fetch` at a free port of 127.0.0.1. */
export function serveNatively(fetch: Fetch): NativeServer {
  const { Bun, Deno } = globalThis as unknown as { Bun?: BunLike; Deno?: DenoLike };
  const address = { hostname: "127.0.0.1", port: 0 };
  if (Bun) {
    const server = Bun.serve({ ...address, fetch });
    return { port: server.port, close: () => server.stop(true) };
  }
  const server = Deno!.serve({ ...address, onListen: () => {} }, fetch);
  return { port: server.addr.port, close: () => server.shutdown() };
}
