/**
 * A server on `node:http` that renders the page for every request, by the renderer that is its argument; with a pause for
 * paths other than `/`. Prints its port; then, for every line of input, the CPU time that it has taken.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";
import { loadRenderer } from "./renderers.ts";

/** The first line of output. */
export interface Listening {
  readonly port: number;
}

/** Every further line of output: CPU time since the start of the process, in microseconds. */
export interface CpuTime {
  readonly cpu: number;
}

function say(line: Listening | CpuTime | Failure): void {
  console.log(JSON.stringify(line));
}

async function serve(name: string): Promise<void> {
  const render = await loadRenderer(name);
  const server = createServer(({ url }, response) => {
    const leaving = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) leaving.abort();
    });
    response.setHeader("content-type", "text/html; charset=utf-8");
    render({ response, signal: leaving.signal, pauses: url !== "/" })
      .catch(() => response.destroy()); // the client of the benchmark gets half a page, and reports it
  });
  server.listen(0, "127.0.0.1", () => say({ port: (server.address() as AddressInfo).port }));
}

try {
  await serve(process.argv[2]);
} catch (error) {
  say({ failure: String(error).split("\n")[0] });
}
for await (const _ of createInterface({ input: process.stdin })) {
  const { user, system } = process.cpuUsage();
  say({ cpu: user + system });
}
process.exit();
