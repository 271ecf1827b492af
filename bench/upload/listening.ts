import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";

/** Stores the body of a request in a file. */
export type Store<Body> = (request: Body, path: string) => Promise<unknown>;

type FetchHandler = (request: Request) => Promise<Response>;

/** The globals of Bun and Deno used here, which the types of Node lack. */
const { Bun, Deno } = globalThis as unknown as {
  readonly Bun: {
    serve(options: {
      port: number;
      hostname: string;
      idleTimeout: number;
      maxRequestBodySize: number;
      fetch: FetchHandler;
    }): { readonly port: number };
  };
  readonly Deno: {
    serve(options: { port: number; hostname: string; onListen(): void }, handler: FetchHandler): {
      readonly addr: { readonly port: number };
    };
  };
};

const address = { port: 0, hostname: "127.0.0.1" };

/** Listens with `node:http`; resolves to the port. */
export function listenByNode(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  return new Promise((listening) => {
    server.listen(address.port, address.hostname, () => listening((server.address() as AddressInfo).port));
  });
}

/** Listens with Hono's adapter on Node, `Bun.serve` on Bun, and `Deno.serve` on Deno; resolves to the port. */
export async function listenByFetch(fetch: FetchHandler): Promise<number> {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  if (bun) return Bun.serve({ ...address, idleTimeout: 255, maxRequestBodySize: Infinity, fetch }).port;
  if (deno) return Deno.serve({ ...address, onListen() {} }, fetch).addr.port;
  const { getRequestListener } = await import("@hono/node-server");
  return await listenByNode(getRequestListener(fetch));
}

/** Returns a listener that stores each body under the name in the URL. */
export function storing(folder: string, store: Store<IncomingMessage>): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    store(request, join(folder, request.url!)).then(
      () => response.writeHead(201).end(),
      (error) => response.writeHead(500).end(String(error)),
    );
  };
}

/** Returns a fetch handler that stores each body under the name in the URL. */
export function fetchStoring(folder: string, store: Store<Request>): FetchHandler {
  return async (request) => {
    await store(request, join(folder, new URL(request.url).pathname));
    return new Response(null, { status: 201 });
  };
}
