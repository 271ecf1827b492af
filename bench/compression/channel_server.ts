/**
 * Serves events to all who connect: `plain`, as most servers do it, or `zstd`, `gzip` and `identity` of a channel. Prints
 * its port as JSON. For each number N on standard input it sends N events, and then prints, as JSON, the CPU time that it
 * has taken for them in microseconds, its memory in bytes, and how many subscribers there are. Ends when its input does.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { createEventChannel, type EventChannelOptions } from "../../lib/compression/mod.ts";

/** The time between two events, in ms. */
const PERIOD = 300;
/** The time after the last one in which it is sent, in ms. */
const REST = 700;

interface Sender {
  send(data: string): void;
  count(): number;
  readonly handle: (req: never, res: ServerResponse) => void;
}

function plain(): Sender {
  const responses = new Set<ServerResponse>();
  return {
    send(data) {
      const bytes = new TextEncoder().encode(`data: ${data}\n\n`);
      for (const res of responses) res.write(bytes);
    },
    count: () => responses.size,
    handle: (_, res) => {
      res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      res.write(":\n\n");
      responses.add(res);
      res.on("close", () => responses.delete(res));
    },
  };
}

async function channel(coding: string): Promise<Sender> {
  const events = createEventChannel({
    codings: coding === "identity" ? [] : [coding] as EventChannelOptions["codings"],
  });
  await events.ready();
  return {
    send: (data) => events.send({ data }),
    count: () => events.stats().subscribers,
    handle: events.node,
  };
}

let sent = 0;

function eventData(): string {
  const prices = ["ACME", "MILL", "RACE", "CORN"].map((symbol, i) => ({
    symbol,
    price: (100 + Math.sin(sent + i) * 20).toFixed(2),
    volume: (sent * 7919 + i) % 100_000,
  }));
  return JSON.stringify({ at: new Date(1_760_000_000_000 + sent++ * 1000).toISOString(), prices });
}

async function memory(): Promise<{ rss: number; used: number }> {
  (globalThis as { gc?: () => void }).gc?.();
  await sleep(100);
  (globalThis as { gc?: () => void }).gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, used: heapUsed + external };
}

const [, , name] = process.argv;
const sender = name === "plain" ? plain() : await channel(name);
const server = createServer(sender.handle as never);
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});
for await (const line of createInterface({ input: process.stdin })) {
  const before = process.cpuUsage();
  for (let i = 0; i < Number(line); i++) {
    sender.send(eventData());
    await sleep(PERIOD);
  }
  await sleep(REST);
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ cpu: user + system, ...await memory(), subscribers: sender.count() }));
}
process.exit(0);
