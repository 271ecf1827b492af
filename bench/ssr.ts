/**
 * A server-rendered page of 4 KB: 40 chunks through three TransformStreams into a response, by our streams, native ones
 * and `node:stream`. Each chunk is a `res.write()`, but where our sink batches them, and where node:stream corks the
 * response. The third transform encodes the text; with "strings" it passes it on, as a response takes strings as well.
 * Pages a second and how long one takes; and how long its first byte takes if the source pauses in the middle.
 *
 *   npm run bench -- ssr [--quick] [--peers ours+native] [--rounds 9]
 *
 * Each server is a process on the runtime measured, the visitors are one on Node; servers take turns, in changing
 * order, and each counts with its fastest round. CPU is the server's own. A page that arrives wrong is a failure.
 * `--quick` takes fewer and shorter rounds: for a look, not for the record. Only full runs are written to results/.
 */
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LineProcess } from "./line_process.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import type { Load, Visits } from "./ssr/load.ts";
import { PAUSE, PAUSE_AFTER } from "./ssr/page.ts";
import type { CpuTime, Listening } from "./ssr/server.ts";
import { peersHere } from "./streams/implementation.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    peers: { type: "string" },
    rounds: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 5 : 9));
const milliseconds = values.quick ? 400 : 800;
const standard = [
  ...peersHere().includes("ours") ? ["ours, batched", "ours, batched, strings", "ours"] : [],
  ...["native", "native, strings", "node:stream", "node:stream, strings", "node:stream, corked"],
];
const peers = values.peers?.split("+") ?? standard;

const folder = dirname(fileURLToPath(import.meta.url));
const run: readonly string[] = process.versions.deno ? ["run", "-A"] : [];
const LIMIT = 15_000;
/** The client, always on Node: a slower one would hide differences. */
const visitors = new LineProcess(join(folder, "../node_modules/.bin/node"), [join(folder, "ssr/load.ts")], LIMIT);

/** The figures of a server in one round; the CPU time is for one page, in microseconds. */
interface Round extends Load {
  readonly cpu: number;
}

/** A server and its figures under one number of connections. */
class Server {
  readonly name: string;
  failure: string | undefined;
  #rounds: Round[] = [];
  readonly #process: LineProcess;
  #port = 0;

  constructor(name: string) {
    this.name = name;
    this.#process = new LineProcess(process.execPath, [...run, join(folder, "ssr/server.ts"), name], LIMIT);
  }

  async listen(): Promise<void> {
    const answer = await this.#process.answer<Listening>();
    if ("failure" in answer) this.failure = answer.failure;
    else this.#port = answer.port;
  }

  /** Takes visits for one round. */
  async take(connections: number, path: string): Promise<void> {
    if (this.failure !== undefined) return;
    const before = await this.#cpu();
    const question: Visits = { port: this.#port, path, connections, milliseconds };
    const answer = await visitors.ask<Load>(question);
    if ("failure" in answer) this.failure = answer.failure;
    else this.#rounds.push({ ...answer, cpu: (await this.#cpu() - before) / answer.pages });
  }

  /** The round with the most pages a second, unless any round failed. */
  get best(): Round | undefined {
    if (this.failure !== undefined) return undefined;
    return this.#rounds.reduce((best, round) => round.perSecond > best.perSecond ? round : best);
  }

  forget(): void {
    this.#rounds = [];
  }

  /** Returns the CPU time it has taken so far, in microseconds. */
  async #cpu(): Promise<number> {
    const answer = await this.#process.ask<CpuTime>("cpu");
    if (!("failure" in answer)) return answer.cpu;
    this.failure = answer.failure;
    return NaN;
  }

  end(): Promise<void> {
    return this.#process.end();
  }
}

async function takeTurns(servers: readonly Server[], connections: number, path: string): Promise<void> {
  for (const server of servers) {
    await server.take(connections, path); // these requests only warm the server up
    server.forget();
  }
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < servers.length; turn++) {
      await servers[(turn + round) % servers.length].take(connections, path);
    }
  }
}

async function compare(servers: readonly Server[], connections: number): Promise<string[][]> {
  await takeTurns(servers, connections, "/");
  const native = servers.find(({ name }) => name === "native")?.best;
  return servers.map((server) => [`${connections}, ${server.name}`, ...figures(server, native)]);
}

async function compareFirstBytes(servers: readonly Server[]): Promise<string[][]> {
  await takeTurns(servers, 1, "/pausing");
  return servers.map(({ name, best, failure }) => {
    if (!best) return [name, `fails: ${failure}`, "-"];
    return [name, `${best.firstByte.toFixed(2)} ms`, `${best.p50.toFixed(2)} ms`];
  });
}

function figures({ best, failure }: Server, native: Round | undefined): string[] {
  if (!best) return [`fails: ${failure}`, "-", "-", "-", "-"];
  return [
    Math.round(best.perSecond).toLocaleString("en"),
    native ? (best.perSecond / native.perSecond).toFixed(2) : "-",
    `${best.p50.toFixed(2)} ms`,
    `${best.p99.toFixed(2)} ms`,
    `${Math.round(best.cpu)} µs`,
  ];
}

const servers = peers.map((name) => new Server(name));
await Promise.all(servers.map((server) => server.listen()));
const rows = [...await compare(servers, 1), ...await compare(servers, 100)];
const firstBytes = await compareFirstBytes(servers);
await Promise.all([visitors, ...servers].map((one) => one.end()));
if (servers.some(({ name, failure }) => name.startsWith("ours") && failure !== undefined)) process.exitCode = 1;

const title = `ssr: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Fastest of ${rounds} rounds of ${milliseconds / 1000} s.\n\n${
  table(["connections, streams", "pages/s", "to native", "p50", "p99", "CPU a page"], rows)
}\n\nA page whose source pauses for ${PAUSE} ms after ${PAUSE_AFTER} chunks, 1 connection:\n\n${
  table(["streams", "first byte", "page"], firstBytes)
}`;
const full = values.peers === undefined && !values.quick && servers.every(({ failure }) => failure === undefined);
if (full && peers.includes("ours")) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
