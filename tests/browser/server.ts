import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Buffer } from "node:buffer";
import { extname } from "node:path";
import { compress } from "../../lib/codecs/mod.ts";
import type { Files } from "./site.ts";

/** The minimal policy for WebAssembly: no inline scripts, no `eval()`, no other origins. */
export const policy: string = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; " +
  "connect-src 'self'; img-src data:";

/** The path of the page with a policy that allows no WebAssembly. */
export const STRICT = "/strict";

/** A server for one page. */
export interface PageServer {
  readonly url: string;
  /** Returns the paths that the page and its worker requested since the previous call. */
  readonly takePaths: () => string[];
  readonly close: () => Promise<void>;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
};

const LINES = 700_000;

/** Returns some MB of numbers, one a line, with their compressed form. */
async function makeLines(): Promise<{ compressed: Uint8Array; about: string }> {
  const numbers = Array.from({ length: LINES }, (_, index) => Math.imul(index, 2_654_435) >>> 12);
  const bytes = new TextEncoder().encode(numbers.join("\n"));
  const compressed = await compress(bytes, { format: "zstd", level: 1 });
  const sum = numbers.reduce((total, number) => total + number, 0);
  return { compressed, about: JSON.stringify({ lines: LINES, sum, bytes: bytes.length }) };
}

/** Serves `files`, and the resources that the checks request. */
export async function servePage(files: Files): Promise<PageServer> {
  const { compressed, about } = await makeLines();
  files.set("/lines.json", new TextEncoder().encode(about));
  const paths: string[] = [];
  const halves = new Halves(compressed);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://localhost");
    paths.push(pathname);
    response.setHeader(
      "content-security-policy",
      pathname === STRICT ? policy.replace(" 'wasm-unsafe-eval'", "") : policy,
    );
    response.setHeader("cache-control", "no-store");
    if (pathname === "/lines.zst") halves.send(response);
    else if (pathname === "/release") halves.release(response);
    else if (pathname === "/left") halves.awaitLeft(response);
    else if (pathname === "/accepted") response.end(request.headers["accept-encoding"]);
    else if (pathname === "/echo") echo(request, response, searchParams.get("coding")!);
    else sendFile(response, files, ["/", STRICT].includes(pathname) ? "/index.html" : pathname);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    takePaths: () => paths.splice(0),
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function sendFile(response: ServerResponse, files: Files, path: string): void {
  const bytes = files.get(path);
  if (bytes === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(bytes);
}

/** Sends a body back with `coding` as its content coding. */
async function echo(request: IncomingMessage, response: ServerResponse, coding: string): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  response.writeHead(200, { "content-type": "text/plain", "content-encoding": coding }).end(Buffer.concat(parts));
}

/** A body whose second half waits until it is requested. */
class Halves {
  readonly #bytes: Uint8Array;
  #current: ServerResponse | undefined;
  #left: Promise<void> = Promise.resolve();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  send(response: ServerResponse): void {
    this.#current = response;
    this.#left = new Promise((left) => response.once("close", left));
    response.writeHead(200, { "content-type": "application/zstd" }).write(this.#bytes.subarray(0, this.#half));
  }

  release(response: ServerResponse): void {
    this.#current?.end(this.#bytes.subarray(this.#half));
    response.end();
  }

  awaitLeft(response: ServerResponse): void {
    const staying = this.#current;
    const timer = setTimeout(() => {
      response.end("still there");
      staying?.destroy();
    }, 5_000);
    this.#left.then(() => {
      clearTimeout(timer);
      response.end("left");
    });
  }

  get #half(): number {
    return this.#bytes.length >> 1;
  }
}
