/**
 * Responses that are compressed as they are made: this package's in Express, Fastify, Hono and the runtime's own
 * server, beside `compression`, `@fastify/compress`, `hono/compress` and, on Deno, its server's `automaticCompression`.
 *
 *   npm run bench -- compression [--quick] [--filter REGEX] [--body REGEX]
 *
 * Each server is a process on the runtime measured, and gets requests over 50 connections. The figure is the CPU time
 * of the server that compression adds to a request, the least of several rounds, in which all take turns. Beside it
 * stands the median of the 99th percentiles of the time until the last byte. All bodies are decoded and compared first.
 * A full run is written to results/.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { request } from "node:http";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { decompress, type Format } from "../lib/codecs/mod.ts";
import { bodies } from "./compression/bodies.ts";
import { Load } from "./compression/load.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    filter: { type: "string", default: "" },
    body: { type: "string", default: "" },
  },
});
const ROUNDS = values.quick ? 3 : 6;
const REQUESTS = 400;
/** Requests of each server before its first round, while it is compiled. */
const WARM_UP = 600;
const CONNECTIONS = 50;
const formats: Readonly<Record<string, Format>> = { gzip: "gzip", br: "brotli", zstd: "zstd" };

/** A way to compress, the same server without it, and the codings it has. */
interface Contestant {
  readonly name: string;
  readonly plain: string;
  readonly codings: readonly string[];
}

const OURS = ["gzip", "br", "zstd"];
const { deno } = process.versions as Record<string, string | undefined>;
const contestants: readonly Contestant[] = [
  { name: "express, compression", plain: "express", codings: ["gzip"] },
  { name: "express, ours", plain: "express", codings: OURS },
  { name: "fastify, @fastify/compress", plain: "fastify", codings: ["gzip"] },
  { name: "fastify, ours", plain: "fastify", codings: OURS },
  { name: "hono, hono/compress", plain: "hono", codings: ["gzip"] },
  { name: "hono, ours", plain: "hono", codings: OURS },
  ...(deno ? [{ name: "server, Deno's own", plain: "server", codings: ["gzip", "br"] }] : []),
  { name: "server, ours", plain: "server", codings: OURS },
].filter(({ name }) => new RegExp(values.filter).test(name));

class Server {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #port = 0;
  #load: Load | undefined;

  private constructor(name: string) {
    const script = join(dirname(fileURLToPath(import.meta.url)), "compression/server.ts");
    const run = deno ? ["run", "-A"] : [];
    const env = { ...process.env, NODE_ENV: "production" };
    this.#process = spawn(process.execPath, [...run, script, name], { stdio: ["pipe", "pipe", "inherit"], env });
    this.#lines = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  static async start(name: string): Promise<Server> {
    const server = new Server(name);
    server.#port = (await server.#read()).port;
    server.#load = await Load.open(server.#port, CONNECTIONS);
    return server;
  }

  async #read(): Promise<{ port: number; cpu: number }> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("a server has ended");
    return JSON.parse(value);
  }

  /** Microseconds of CPU time so far. */
  async #cpu(): Promise<number> {
    this.#process.stdin!.write("\n");
    return (await this.#read()).cpu;
  }

  get(path: string, accepted: string): Promise<{ coding: string | undefined; bytes: Uint8Array }> {
    return new Promise((resolve, reject) => {
      const headers = { "accept-encoding": accepted };
      const sent = request({ host: "127.0.0.1", port: this.#port, path, headers, agent: false }, (response) => {
        const chunks: Uint8Array[] = [];
        response.on("data", (chunk: Uint8Array) => chunks.push(chunk));
        response.on("end", () => {
          resolve({ coding: response.headers["content-encoding"], bytes: new Uint8Array(Buffer.concat(chunks)) });
        });
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end();
    });
  }

  /**
   * Returns the CPU time a request in microseconds, and the time in ms within which 99% of the requests were answered.
   */
  async play(path: string, accepted: string, requests: number): Promise<{ cpu: number; p99: number }> {
    await this.#load!.ready();
    const before = await this.#cpu();
    const took = await this.#load!.play(path, accepted, requests);
    const cpu = (await this.#cpu() - before) / requests;
    return { cpu, p99: took.sort()[Math.ceil(requests * 0.99) - 1] };
  }

  end(): void {
    this.#load!.close();
    this.#process.stdin!.end();
  }
}

interface Row {
  readonly name: string;
  readonly plain: string;
  readonly coding: string;
  bytes: number;
  least: number;
  readonly p99: number[];
}

function rowOf(name: string, plain: string, coding: string): Row {
  return { name, plain, coding, bytes: 0, least: Infinity, p99: [] };
}

async function contest(servers: ReadonlyMap<string, Server>, path: string): Promise<string> {
  const rows = contestants.flatMap(({ name, plain, codings }) => codings.map((coding) => rowOf(name, plain, coding)));
  const plains = [...new Set(contestants.map(({ plain }) => plain))].map((name) => rowOf(name, name, "identity"));
  const all = [...plains, ...rows];
  for (const row of all) {
    row.bytes = await check(servers.get(row.name)!, path, row.coding);
    await servers.get(row.name)!.play(path, row.coding, WARM_UP);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const row of round % 2 === 0 ? all : all.toReversed()) {
      const { cpu, p99 } = await servers.get(row.name)!.play(path, row.coding, REQUESTS);
      row.least = Math.min(row.least, cpu);
      row.p99.push(p99);
    }
  }
  const added = (row: Row): number => row.least - plains.find(({ name }) => name === row.plain)!.least;
  const peers = rows.filter(({ name }) => !name.endsWith("ours"));
  return table(
    ["", "bytes", "CPU added a request", "the peer's / ours", "p99"],
    rows.map((row) => {
      const ofPlain = peers.filter(({ plain }) => plain === row.plain);
      const peer = ofPlain.find(({ coding }) => coding === row.coding) ?? ofPlain[0];
      const ratio = peer === undefined || ofPlain.includes(row) ? "" : (added(peer) / added(row)).toFixed(2);
      const [name, bytes] = [`${row.name}: ${row.coding}`, row.bytes.toLocaleString("en")];
      return [name, bytes, `${added(row).toFixed(0)} µs`, ratio, `${median(row.p99).toFixed(1)} ms`];
    }),
  );
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[figures.length >> 1];
}

async function check(server: Server, path: string, accepted: string): Promise<number> {
  const { coding, bytes } = await server.get(path, accepted);
  if (accepted !== "identity" && coding !== accepted) throw new Error(`${accepted} was asked for, and ${coding} came`);
  const decoded = coding === undefined ? bytes : await decompress(bytes, { format: formats[coding] });
  if (new TextDecoder().decode(decoded) !== bodies[path].text) throw new Error(`${path} came as something else`);
  return bytes.length;
}

const servers = new Map<string, Server>();
for (const name of new Set(contestants.flatMap(({ name, plain }) => [plain, name]))) {
  servers.set(name, await Server.start(name));
}
const parts: string[] = [];
for (const [path, { text }] of Object.entries(bodies)) {
  if (!new RegExp(values.body).test(path)) continue;
  parts.push(`${path.slice(1)}, ${text.length.toLocaleString("en")} bytes:\n\n${await contest(servers, path)}`);
}
for (const server of servers.values()) server.end();
const title = `compression: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Least of ${ROUNDS} rounds of ${REQUESTS} requests.\n\n${parts.join("\n\n")}`;
if (values.quick || values.filter || values.body) console.log(`\n${title}\n\n${body}\n`);
else writeSection(title, body);
