import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { userOf } from "./contents.ts";

/** Starts the client's origin server, which sends half of its users as usual, and the others late, cut, coded or not at all. */
export async function startUpstream(): Promise<{ readonly origin: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    answer(Number(request.url!.split("/").at(-1)), response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(number: number, response: ServerResponse): void {
  const text = userOf(number);
  const kind = number % 10;
  if (kind === 0) response.destroy();
  else if (kind === 1) {
    response.writeHead(200, { "content-length": text.length });
    response.write(text.slice(0, 100), () => response.destroy());
  } else if (kind === 2) response.writeHead(503, { "retry-after": "0" }).end("busy");
  else if (kind === 3) setTimeout(() => response.end(text), 100);
  else if (kind === 4) response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(text));
  else response.end(text);
}

/** Whether the upstream fails to send the user of this number, so that a 200 would be wrong. */
export const isLost = (number: number): boolean => number % 10 < 3;
