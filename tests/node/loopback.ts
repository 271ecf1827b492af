import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2Server,
} from "node:http2";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { within } from "../support/waits.ts";

async function listen(server: Server | Http2Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Runs `visit` against a server of node:http, and ends every connection afterwards. */
export async function withHttpServer(
  handle: (response: ServerResponse, request: IncomingMessage) => void,
  visit: (port: number) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => handle(response, request));
  const port = await listen(server);
  try {
    await within(visit(port), "the visit");
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Runs a server of node:http2, in clear text, on which `prepare` listens for requests or streams. */
export async function withHttp2Server(
  prepare: (server: Http2Server) => void,
  visit: (session: ClientHttp2Session) => Promise<void>,
): Promise<void> {
  const server = createHttp2Server();
  prepare(server);
  const session = connectHttp2(`http://127.0.0.1:${await listen(server)}`);
  session.on("error", () => {});
  try {
    await within(visit(session), "the visit");
  } finally {
    session.destroy();
    server.close();
  }
}

/** Runs a server of node:net. */
export async function withTcpServer(
  handle: (socket: Socket) => void,
  visit: (port: number) => Promise<void>,
): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    handle(socket);
  });
  const port = await listen(server);
  try {
    await within(visit(port), "the visit");
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

/** A server's response. */
export interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: string;
  /** Whether the body was complete. */
  readonly isWhole: boolean;
}

/** Sends a request to a server of node:http, and reads the response to its end, complete or not. */
export function get(port: number, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", method, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => body += text);
      response.on("error", () => {});
      response.on("close", () => {
        resolve({ status: response.statusCode, headers: response.headers, body, isWhole: response.complete });
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** Sends a request like `get()`, and returns its paused socket, which the test reads or closes. */
export async function visitor(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  socket.on("error", () => {});
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
  return socket;
}

/** Returns all that arrives from a socket until the other side has ended. */
export async function allOf(socket: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Notes what is written to a writable, and by which method. */
export function recordWrites(writable: { write: unknown; end: unknown }): string[] {
  const calls: string[] = [];
  for (const name of ["write", "end"] as const) {
    const original = writable[name] as (this: unknown, ...args: unknown[]) => unknown;
    writable[name] = function (this: unknown, ...args: unknown[]): unknown {
      const [chunk] = args;
      const kind = typeof chunk === "string" ? "string" : chunk instanceof Uint8Array ? "bytes" : "";
      calls.push(kind === "" ? name : `${name} ${(chunk as string | Uint8Array).length} ${kind}`);
      return original.apply(this, args);
    };
  }
  return calls;
}
