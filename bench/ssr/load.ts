/** Visits a server from several connections at once, as it is told by lines of JSON; answers with what it took. */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";
import { wholePage } from "./page.ts";
import { Judge, Visitor } from "./visitor.ts";

/** A question: visits from so many connections, each for so long. */
export interface Visits {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
}

/** The answer. Latencies are in milliseconds. */
export interface Load {
  readonly pages: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

async function load({ port, connections, milliseconds }: Visits): Promise<Load> {
  const judge = new Judge(wholePage());
  const visitors = Array.from({ length: connections }, () => new Visitor(port, judge));
  try {
    // A busy Node accepts one connection a turn of its loop: without this, the last of 100 waited 600 ms, their p99.
    await visitAll(visitors, 0);
    const start = performance.now();
    const latencies = await visitAll(visitors, milliseconds);
    return summaryOf(latencies, performance.now() - start);
  } finally {
    for (const visitor of visitors) visitor.leave();
  }
}

async function visitAll(visitors: readonly Visitor[], milliseconds: number): Promise<number[]> {
  return (await Promise.all(visitors.map((visitor) => visitor.visit(milliseconds)))).flat();
}

function summaryOf(all: readonly number[], milliseconds: number): Load {
  const latencies = Float64Array.from(all).sort();
  const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)];
  return {
    pages: latencies.length,
    perSecond: latencies.length / milliseconds * 1000,
    p50: percentile(0.5),
    p99: percentile(0.99),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer: Load | Failure = await load(JSON.parse(line) as Visits).catch((error) => ({ failure: String(error) }));
  console.log(JSON.stringify(answer));
}
