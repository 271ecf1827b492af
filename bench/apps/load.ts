/**
 * Loads a server from many connections at once: a line of JSON in describes the load, a line out has its rate and
 * latencies. The same process is the origin of the proxy, and prints the origin's port first.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";
import { Judge, type Visit, Visitor } from "../ssr/visitor.ts";
import { programOf } from "./programs/mod.ts";
import { ORIGIN } from "./programs/proxy.ts";
import type { Ask, Listening, Load, Visits } from "./questions.ts";

function requestOf({ method, body }: Ask): Buffer {
  const fields = body > 0 ? `content-type: text/plain\r\ncontent-length: ${body}\r\n` : "";
  return Buffer.from(`${method} / HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields}\r\n${"a".repeat(body)}`);
}

async function load({ port, program, connections, milliseconds }: Visits): Promise<Load> {
  const { ask, isRight } = programOf(program);
  const judge = new Judge((body) => isRight({ body }));
  const request = requestOf(ask);
  const visitors = Array.from({ length: connections }, () => new Visitor({ port, request, judge }));
  try {
    await visitAll(visitors, 0); // a busy Node accepts one connection a turn of its loop
    const start = performance.now();
    const visits = await visitAll(visitors, milliseconds);
    const seconds = (performance.now() - start) / 1000;
    const latencies = Float64Array.from(visits, ({ latency }) => latency).sort();
    const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)];
    return {
      requests: visits.length + connections,
      perSecond: visits.length / seconds,
      p50: percentile(0.5),
      p99: percentile(0.99),
    };
  } finally {
    for (const visitor of visitors) visitor.leave();
  }
}

async function visitAll(visitors: readonly Visitor[], milliseconds: number): Promise<Visit[]> {
  return (await Promise.all(visitors.map((visitor) => visitor.visit(milliseconds)))).flat();
}

const chunk = Buffer.alloc(ORIGIN.size, "a");
const origin = createServer((_request, response) => {
  let left = ORIGIN.chunks;
  const send = (): void => {
    if (--left === 0) response.end(chunk);
    else response.write(chunk, send);
  };
  send();
});
origin.listen(0, "127.0.0.1", () => {
  const listening: Listening = { port: (origin.address() as AddressInfo).port };
  console.log(JSON.stringify(listening));
});

for await (const line of createInterface({ input: process.stdin })) {
  const answer: Load | Failure = await load(JSON.parse(line) as Visits).catch((error) => ({ failure: String(error) }));
  console.log(JSON.stringify(answer));
}
process.exit();
