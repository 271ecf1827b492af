/**
 * A channel of events with 10,000 subscribers, beside a plain server that writes each event to each response.
 *
 *   npm run bench -- event_channel [--subscribers 10000]
 *
 * Subscribers are in processes of 2,500, on loopback. Figures are of the server's process alone: the CPU time of an event,
 * the least of three rounds in which all take turns, and the memory that all subscribers have added. A full run is
 * written to results/.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({ options: { subscribers: { type: "string", default: "10000" } } });
const SUBSCRIBERS = Number(values.subscribers);
const IN_ONE_PROCESS = 2500;
const ROUNDS = 3;
const EVENTS = 20;
const contestants = ["plain", "identity", "gzip", "zstd"];

const folder = join(dirname(fileURLToPath(import.meta.url)), "compression");
const { bun, deno } = process.versions as Record<string, string | undefined>;

/** A process of this package that answers lines with lines. */
class Asked {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(command: string, args: readonly string[]) {
    this.#process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  async read(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done) throw new Error("a process has ended");
    return value;
  }

  ask(line: string): Promise<string> {
    this.#process.stdin!.write(`${line}\n`);
    return this.read();
  }

  end(): Promise<void> {
    this.#process.stdin!.end();
    return new Promise((resolve) => this.#process.on("close", () => resolve()));
  }
}

interface Figures {
  cpu: number;
  rss: number;
  used: number;
  bytes: number;
}

async function run(name: string): Promise<Figures> {
  const start = deno ? ["run", "-A", "--v8-flags=--expose-gc"] : bun ? ["--expose-gc"] : ["--expose-gc"];
  const server = new Asked(process.execPath, [...start, join(folder, "channel_server.ts"), name]);
  const { port } = JSON.parse(await server.read());
  const before = JSON.parse(await server.ask("0"));
  const clients: Asked[] = [];
  for (let left = SUBSCRIBERS; left > 0; left -= IN_ONE_PROCESS) {
    const count = String(Math.min(left, IN_ONE_PROCESS));
    // The clients are Node's everywhere: they are not what is measured.
    const node = join(folder, "../../node_modules/.bin/node");
    clients.push(new Asked(node, [join(folder, "channel_clients.ts"), String(port), name, count]));
    await clients.at(-1)!.read();
  }
  await server.ask("5");
  await Promise.all(clients.map((client) => client.ask("")));
  const { cpu, rss, used, subscribers } = JSON.parse(await server.ask(String(EVENTS)));
  const got = await Promise.all(clients.map((client) => client.ask("")));
  if (subscribers !== SUBSCRIBERS) throw new Error(`${name}: ${subscribers} subscribers are left`);
  await Promise.all([...clients, server].map((each) => each.end()));
  return {
    cpu: cpu / EVENTS,
    rss: (rss - before.rss) / SUBSCRIBERS,
    used: (used - before.used) / SUBSCRIBERS,
    bytes: Math.max(...got.map(Number)) / EVENTS,
  };
}

const least = new Map<string, Figures>();
for (let round = 0; round < ROUNDS; round++) {
  for (const name of contestants) {
    const figures = await run(name);
    const known = least.get(name) ?? figures;
    for (const key of ["cpu", "rss", "used", "bytes"] as const) known[key] = Math.min(known[key], figures[key]);
    least.set(name, known);
  }
}
const plain = least.get("plain")!;
const rows = contestants.map((name) => {
  const { cpu, rss, used, bytes } = least.get(name)!;
  const above = (value: number, of: number): string => name === "plain" ? "" : `${(value - of).toFixed(0)} B`;
  return [
    name === "plain" ? "plain server" : name === "identity" ? "channel, uncompressed" : `channel, ${name}`,
    bytes.toFixed(0),
    `${(cpu / 1000).toFixed(1)} ms`,
    (cpu / plain.cpu).toFixed(2),
    `${(rss / 1024).toFixed(1)} KiB`,
    above(rss, plain.rss),
    above(used, plain.used),
  ];
});
const head = [
  "",
  "bytes an event",
  "CPU an event",
  "of plain's",
  "memory a subscriber",
  "above plain",
  "of it on the heap",
];
const title = `event_channel: ${runtimeName().split(" ")[0]}`;
const body =
  `${circumstances()}. ${SUBSCRIBERS.toLocaleString("en")} subscribers, least of ${ROUNDS} rounds of ${EVENTS} ` +
  `events.\n\n${table(head, rows)}`;
if (values.subscribers === "10000") writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
