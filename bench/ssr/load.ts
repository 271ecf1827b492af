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
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

async function load({ port, connections, milliseconds }: Visits): Promise<Load> {
  const judge = new Judge(wholePage());
  const visitors = Array.from({ length: connections }, () => new Visitor(port, judge));
  const start = performance.now();
  await Promise.all(visitors.map((visitor) => visitor.visit(milliseconds)));
  const seconds = (performance.now() - start) / 1000;
  const latencies = Float64Array.from(visitors.flatMap(({ latencies }) => latencies)).sort();
  const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)];
  return { perSecond: latencies.length / seconds, p50: percentile(0.5), p99: percentile(0.99) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer: Load | Failure = await load(JSON.parse(line) as Visits).catch((error) => ({ failure: String(error) }));
  console.log(JSON.stringify(answer));
}
