import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { NOT_MODIFIED } from "./not_modified.ts";
import { readyAnswers } from "./ready_answers.ts";
import type { Servers } from "./server.ts";

type Handler = (request: Request) => Response | Promise<Response>;

interface BunServer {
  readonly port: number;
}
/** The globals of Bun and Deno used here, which the types of Node lack. */
const { Bun, Deno } = globalThis as unknown as {
  readonly Bun: {
    serve(options: {
      port: number;
      hostname: string;
      fetch: Handler;
      routes?: Readonly<Record<string, Response>>;
    }): BunServer;
  };
  readonly Deno: {
    serve(options: { port: number; hostname: string; onListen(): void }, handler: Handler): { addr: { port: number } };
  };
};

const address = { port: 0, hostname: "127.0.0.1" };

async function serveOnBun(fetch: Handler): Promise<number> {
  return await Bun.serve({ ...address, fetch }).port;
}

async function serveOnDeno(fetch: Handler): Promise<number> {
  return await Deno.serve({ ...address, onListen() {} }, fetch).addr.port;
}

function statusFor(headers: Headers): number {
  return headers.has("if-none-match") ? 304 : 200;
}

function serversBy(serve: (handler: Handler) => Promise<number>): Servers {
  return {
    async bare(folder): Promise<number> {
      const answers = readyAnswers(folder);
      return await serve(({ url }) => {
        const { bytes, type, coding } = answers.get(url.slice(url.indexOf("/", 8)))!;
        return new Response(bytes, {
          headers: { "content-type": type, "content-encoding": coding, "content-length": String(bytes.length) },
        });
      });
    },
    async "bare, negotiating"(folder): Promise<number> {
      const answers = readyAnswers(folder);
      return await serve(({ url, headers }) => {
        const { bytes, type, coding } = answers.get(url.slice(url.indexOf("/", 8)))!;
        if (!headers.get("accept-encoding")?.includes(coding)) return new Response(null, { status: 406 });
        return new Response(bytes, {
          headers: { "content-type": type, "content-encoding": coding, "content-length": String(bytes.length) },
        });
      });
    },
    // The handler has a parameter, as one that has read the fields: for a handler without parameters Deno makes no
    // Request.
    "bare 304, no fields": async () => await serve(({ headers }) => new Response(null, { status: statusFor(headers) })),
    "bare 304": async () =>
      await serve(({ headers }) => new Response(null, { status: statusFor(headers), headers: NOT_MODIFIED })),
    async ours(folder): Promise<number> {
      const { createStaticHandler } = await import("../../lib/static/mod.ts");
      return await serve((await createStaticHandler(folder)).fetch);
    },
  };
}

/** The servers on Bun. Each resolves to the port it listens on. */
export const bunServers: Servers = {
  ...serversBy(serveOnBun),
  async "static routes"(folder): Promise<number> {
    const routes = [...readyAnswers(folder)].map(([path, { bytes, type, coding }]) => {
      return [path, new Response(bytes, { headers: { "content-type": type, "content-encoding": coding } })];
    });
    const fetch = () => new Response(null, { status: 404 });
    return await Bun.serve({ ...address, routes: Object.fromEntries(routes), fetch }).port;
  },
  async "hono serveStatic"(folder): Promise<number> {
    const [{ serveStatic }, { Hono }] = await Promise.all([import("hono/bun"), import("hono")]);
    return await serveOnBun(new Hono().use(serveStatic({ root: folder, precompressed: true })).fetch as Handler);
  },
};

/** The servers on Deno. Each resolves to the port it listens on. */
export const denoServers: Servers = {
  ...serversBy(serveOnDeno),
  async "std serveDir"(folder): Promise<number> {
    const { serveDir } = await import(pathToFileURL(join(process.env.DENO_STD_ROOT!, "http/file_server.ts")).href);
    return await serveOnDeno((request) => serveDir(request, { fsRoot: folder, quiet: true }));
  },
  async "hono serveStatic"(folder): Promise<number> {
    const [{ serveStatic }, { Hono }] = await Promise.all([import("hono/deno"), import("hono")]);
    return await serveOnDeno(new Hono().use(serveStatic({ root: folder, precompressed: true })).fetch as Handler);
  },
};
