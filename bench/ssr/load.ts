/** Visits a server from several connections at once, by lines of JSON on its input; prints the measured times. */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";
import { wholePage } from "./page.ts";
import { Judge, type Visit, Visitor } from "./visitor.ts";

/** A question: visits from a number of connections, for a time. */
export interface Visits {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly milliseconds: number;
}

/** The answer. Latencies are in milliseconds. */
export interface Load {
  readonly pages: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** The median time to the first byte of the page. */
  readonly firstByte: number;
}

async function load({ port, path, connections, milliseconds }: Visits): Promise<Load> {
  const page = wholePage();
  const judge = new Judge((body) => body === page);
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
  const visitors = Array.from({ length: connections }, () => new Visitor({ port, request, judge }));
  try {
    // A busy Node accepts one connection a turn of its loop: without this, the last of 100 waited 600 ms, their p99.
    await visitAll(visitors, 0);
    const start = performance.now();
    const visits = await visitAll(visitors, milliseconds);
    return summaryOf(visits, performance.now() - start);
  } finally {
    for (const visitor of visitors) visitor.leave();
  }
}

async function visitAll(visitors: readonly Visitor[], milliseconds: number): Promise<Visit[]> {
  return (await Promise.all(visitors.map((visitor) => visitor.visit(milliseconds)))).flat();
}

function summaryOf(visits: readonly Visit[], milliseconds: number): Load {
  const latencies = Float64Array.from(visits, ({ latency }) => latency).sort();
  const firstBytes = Float64Array.from(visits, ({ firstByte }) => firstByte).sort();
  const percentile = (sorted: Float64Array, share: number): number => sorted[Math.floor(sorted.length * share)];
  return {
    pages: visits.length,
    perSecond: visits.length / milliseconds * 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    firstByte: percentile(firstBytes, 0.5),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer: Load | Failure = await load(JSON.parse(line) as Visits).catch((error) => ({ failure: String(error) }));
  console.log(JSON.stringify(answer));
}
