import type { IncomingMessage, ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";

/** A server that is ready to answer. */
export interface Server {
  /** Requests a path, and resolves to the status. */
  readonly ask: (path: string) => Promise<number>;
  /** The bytes of bodies in memory so far, as the server reports them. */
  readonly bodies: () => number;
}

/** The folder to serve and the settings of the server. */
export interface Task {
  readonly folder: string;
  /** The limit of the memory for bodies, in bytes; only this package has one. */
  readonly limit: number;
  /** The module of vinext's cache. */
  readonly vinext: string;
}

/** Functions by name that load a server's modules, and resolve to a function that starts it. */
export const starts: Readonly<Record<string, (task: Task) => Promise<() => Promise<Server>>>> = {
  async ours({ folder, limit }) {
    const { createStaticHandler } = await import("../../lib/static/mod.ts");
    return async () => {
      const handler = await createStaticHandler(folder, { memoryLimit: limit });
      const ask = async (path: string) => (await handler.fetch(new Request(`http://localhost${path}`))).status;
      return { ask, bodies: () => handler.stats().bytesInMemory };
    };
  },
  async sirv({ folder }) {
    const { default: sirv } = await import("sirv");
    return () => {
      const handler = sirv(folder, { brotli: true, gzip: true, etag: true });
      return Promise.resolve({ ask: (path) => statusFrom(handler, path), bodies: () => 0 });
    };
  },
  async "vinext 1.4.0"({ folder, vinext }) {
    const { StaticFileCache } = await import(pathToFileURL(vinext).href);
    return async () => {
      const cache = await StaticFileCache.create(folder);
      return { ask: (path) => Promise.resolve(cache.lookup(path) ? 200 : 404), bodies: () => 0 };
    };
  },
};

/** Sends a request to a handler of `node:http` without a connection, and resolves to the status. */
function statusFrom(
  handle: (req: IncomingMessage, res: ServerResponse, next: () => void) => void,
  path: string,
): Promise<number> {
  return new Promise((answered) => {
    const res = new Writable({ write: (_chunk, _encoding, done) => done() });
    const head = { writeHead: (status: number) => answered(status), setHeader() {}, getHeader() {} };
    const req = { method: "GET", url: path, headers: { "accept-encoding": "br" } };
    handle(
      req as unknown as IncomingMessage,
      Object.assign(res, head) as unknown as ServerResponse,
      () => answered(404),
    );
  });
}
