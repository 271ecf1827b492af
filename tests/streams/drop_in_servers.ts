import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline, Readable, Writable } from "node:stream";
import { pipeline as pipelined } from "node:stream/promises";
import type { Bytes } from "./drop_in_streams.ts";

/** A server that is running. */
export interface Running {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Makes a response's body of the request's. */
export type Respond = (request: ReadableStream<Bytes> | null) => ReadableStream<Bytes>;

/** A way to answer requests with a stream. */
export interface ServerKind {
  readonly skip: string | false;
  readonly start: (respond: Respond) => Running | Promise<Running>;
}

interface BunServer {
  readonly url: URL;
  stop(closeActiveConnections: boolean): Promise<void>;
}
interface DenoServer {
  readonly addr: { readonly port: number };
  shutdown(): Promise<void>;
}
type Handler = (request: Request) => Response;
const { Bun, Deno } = globalThis as unknown as {
  Bun?: { serve(options: { port: number; hostname: string; fetch: Handler; error: () => Response }): BunServer };
  Deno?: {
    serve(
      options: { port: number; hostname: string; signal: AbortSignal; onListen(): void },
      handler: Handler,
    ): DenoServer;
  };
};

function startBun(respond: Respond): Running {
  const server = Bun!.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => new Response(respond(request.body)),
    error: () => new Response("failed", { status: 500 }),
  });
  return { url: server.url.href, close: () => server.stop(true) };
}

function startDeno(respond: Respond): Running {
  const abort = new AbortController();
  const options = { port: 0, hostname: "127.0.0.1", signal: abort.signal, onListen(): void {} };
  const server = Deno!.serve(options, (request) => new Response(respond(request.body)));
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    close(): Promise<void> {
      abort.abort();
      return Promise.resolve();
    },
  };
}

/** Returns a node:http server whose response is written by `send`. */
function nodeHttp(send: (body: ReadableStream<Bytes>, response: ServerResponse) => unknown): ServerKind["start"] {
  return async (respond) => {
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      const body = request.method === "POST" ? Readable.toWeb(request) as ReadableStream<Bytes> : null;
      send(respond(body), response);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      close(): Promise<void> {
        server.closeAllConnections();
        return new Promise((closed) => server.close(() => closed()));
      },
    };
  };
}

/** Types of node:stream/web and of the DOM are the same at run time. */
type NodeReadableStream = Parameters<typeof Readable.fromWeb>[0];

function fromWeb(body: ReadableStream<Bytes>): Readable {
  return Readable.fromWeb(body as unknown as NodeReadableStream);
}

async function writeEach(body: ReadableStream<Bytes>, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  try {
    for await (const chunk of body) {
      closed.signal.throwIfAborted();
      if (!response.write(chunk)) await once(response, "drain", { signal: closed.signal });
    }
    response.end();
  } catch {
    response.destroy();
  }
}

/** Every server that this runtime has, and on node:http every way from a stream to a response. */
export const servers: Readonly<Record<string, ServerKind>> = {
  "Bun.serve()": { skip: Bun ? false : "only Bun has it", start: startBun },
  "Deno.serve()": { skip: Deno ? false : "only Deno has it", start: startDeno },
  "node:http and Readable.fromWeb()": {
    skip: false,
    start: nodeHttp((body, response) => pipeline(fromWeb(body), response, () => response.destroy())),
  },
  "node:http and pipeline() of the stream": {
    skip: false,
    start: nodeHttp((body, response) => {
      pipelined(body as unknown as NodeReadableStream, response).catch(() => response.destroy());
    }),
  },
  "node:http and Writable.toWeb()": {
    skip: false,
    start: nodeHttp((body, response) => {
      body.pipeTo(Writable.toWeb(response) as WritableStream<Bytes>).catch(() => response.destroy());
    }),
  },
  "node:http and for await": { skip: false, start: nodeHttp(writeEach) },
};
