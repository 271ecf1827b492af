import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { FakeStore } from "../s3/fake_store.ts";

/** The server that replaces every public host while blocks run. */
export interface PeerServer {
  readonly origin: string;
  close(): Promise<void>;
}

const names = ["Ada", "Grace", "Edsger", "Barbara", "Donald"];
const large = new Uint8Array(5_000_000).fill(46);
/** The bucket `films` of a store. */
const store = new FakeStore();
const page = "<!doctype html><title>Mill</title><p>The mill turns.</p>\n";

/** Starts the server on a free port of the loopback. */
export async function startPeerServer(): Promise<PeerServer> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  // A block that ends while a body is on its way is no failure of the server.
  request.on("error", () => {});
  response.on("error", () => {});
  const { pathname, searchParams } = new URL(request.url!, "http://peer");
  if (request.headers["x-amz-date"] !== undefined || searchParams.has("X-Amz-Date")) {
    return void store.take(request, response);
  }
  const user = /^\/users\/(\d+)$/.exec(pathname)?.[1];
  if (user !== undefined) {
    request.resume();
    return json(response, 200, { id: Number(user), name: names[Number(user) % names.length] });
  }
  if (/^\/films(?:\/|$)/.test(pathname) && (request.method === "PUT" || request.method === "POST")) {
    let bytes = 0;
    request.on("data", (chunk: Uint8Array) => bytes += chunk.length);
    request.on("end", () => json(response, 201, { bytes }));
    return;
  }
  request.resume();
  if (pathname === "/" || pathname === "/page.html") send(response, 200, "text/html; charset=utf-8", page);
  else if (pathname === "/large") send(response, 200, "application/octet-stream", large);
  else if (pathname === "/log") log(response);
  else if (pathname === "/busy") busy(response);
  else if (pathname === "/redirect") response.writeHead(302, { location: "/page.html" }).end();
  else send(response, 404, "text/plain; charset=utf-8", "not found\n");
}

let asked = 0;

/** Refuses every other request. */
function busy(response: ServerResponse): void {
  if (asked++ % 2 === 0) response.writeHead(503, { "retry-after": "0" }).end();
  else send(response, 200, "text/plain", "ready\n");
}

/** Early hints, a body without a length, and a trailer. */
function log(response: ServerResponse): void {
  response.writeEarlyHints({ link: "</style.css>; rel=preload" });
  response.writeHead(200, { "content-type": "text/plain", trailer: "x-lines" });
  response.write("one\ntwo\n");
  response.addTrailers({ "x-lines": "2" });
  response.end();
}

function json(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, "application/json", JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) }).end(body);
}
