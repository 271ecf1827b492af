/**
 * A server on `node:http` that renders the page for every request, by the renderer that is its argument. Says its port,
 * and serves until its standard input ends.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import type { Failure } from "../line_process.ts";
import { loadRenderer } from "./renderers.ts";

/** The first and only answer. */
export interface Listening {
  readonly port: number;
}

function say(line: Listening | Failure): void {
  console.log(JSON.stringify(line));
}

async function serve(name: string): Promise<void> {
  const render = await loadRenderer(name);
  const server = createServer((_request, response) => {
    const leaving = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) leaving.abort();
    });
    response.setHeader("content-type", "text/html; charset=utf-8");
    render(response, leaving.signal).catch(() => response.destroy()); // the visitor sees half a page, and complains
  });
  server.listen(0, "127.0.0.1", () => say({ port: (server.address() as AddressInfo).port }));
}

process.stdin.on("end", () => process.exit()).resume();
try {
  await serve(process.argv[2]);
} catch (error) {
  say({ failure: String(error).split("\n")[0] });
}
