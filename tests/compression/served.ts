import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, createServer as createHttp2Server, type Http2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import type { Readable } from "node:stream";
import { decompress, type Format } from "../../lib/codecs/mod.ts";

export interface Handler {
  (req: IncomingMessage, res: ServerResponse): void;
}

/** A response as the client received it. */
export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
  /** Undefined with HTTP/2. */
  readonly trailers?: Readonly<Record<string, string | undefined>>;
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly accepted?: string | undefined;
  /** Additional header fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** A server of one protocol, and its client. */
export interface Served {
  readonly port: number;
  /** Begins to read a response. */
  open(
    asked: Asked,
  ): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Readable }>;
}

const opened: (() => Promise<void>)[] = [];

/** Ends all servers. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((close) => close()));
}

export const protocols: Readonly<Record<"http/1.1" | "h2", (handle: Handler) => Promise<Served>>> = {
  "http/1.1": serveHttp1,
  "h2": serveHttp2,
};

async function listen(server: Server | Http2Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function serveHttp1(handle: Handler): Promise<Served> {
  const server = createServer(handle);
  const port = await listen(server);
  opened.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port, open: (asked) => openHttp1(port, asked) };
}

/** Sends a request to a server on 127.0.0.1, over a new connection. */
export function openHttp1(
  port: number,
  { method = "GET", path = "/", accepted, fields }: Asked,
): ReturnType<Served["open"]> {
  return new Promise((resolve, reject) => {
    const headers = accepted === undefined ? { ...fields } : { ...fields, "accept-encoding": accepted };
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      resolve({ status: response.statusCode!, headers: response.headers, body: response });
    });
    sent.on("error", reject);
    sent.end();
  });
}

async function serveHttp2(handle: Handler): Promise<Served> {
  const server = createHttp2Server(handle as never);
  const port = await listen(server);
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  opened.push(async () => {
    session.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return {
    port,
    open: async ({ method = "GET", path = "/", accepted, fields }) => {
      const coding = accepted === undefined ? {} : { "accept-encoding": accepted };
      const body = session.request({ ":method": method, ":path": path, ...fields, ...coding });
      body.on("error", () => {});
      const [headers] = await once(body, "response");
      return { status: headers[":status"], headers, body };
    },
  };
}

/** Asks, and reads the response to its end. */
export async function get(served: Served, asked: Asked): Promise<Got> {
  const { status, headers, body } = await served.open(asked);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return {
    status,
    headers,
    bytes: new Uint8Array(Buffer.concat(chunks)),
    trailers: (body as IncomingMessage).trailers,
  };
}

const formats: Readonly<Record<string, Format>> = { zstd: "zstd", br: "brotli", gzip: "gzip" };

/** Returns the text of a response, decoded by its `Content-Encoding`. */
export async function textOfGot({ headers, bytes }: Got): Promise<string> {
  const coding = headers["content-encoding"];
  if (coding === undefined || bytes.length === 0) return new TextDecoder().decode(bytes);
  assert.ok(coding in formats, coding);
  return new TextDecoder().decode(await decompress(bytes, { format: formats[coding] }));
}
