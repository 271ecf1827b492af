/**
 * Responses that are compressed as they are made: ours in Express, Fastify, Hono and the runtime's own server, beside
 * `compression`, `@fastify/compress`, `hono/compress` and, on Deno, its server's `automaticCompression`.
 *
 *   npm run bench -- compression [--quick] [--filter REGEX]
 *
 * Each server is a process on the runtime measured, and is asked over 50 connections. The figure is the CPU time of the
 * server alone that compression adds to a request: with it less without it, the least of several rounds, in which all
 * take turns. All bodies are decoded and compared first. A full run is written to RESULTS.md.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { decompress, type Format } from "../lib/codecs/mod.ts";
import { bodies } from "./compression/bodies.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, filter: { type: "string", default: "" } },
});
const ROUNDS = values.quick ? 3 : 7;
const REQUESTS = 2000;
const CONNECTIONS = 50;
const formats: Readonly<Record<string, Format>> = { gzip: "gzip", br: "brotli", zstd: "zstd" };

/** A way to compress, the same server without it, and the codings it has. */
interface Contestant {
  readonly name: string;
  readonly plain: string;
  readonly codings: readonly string[];
}

const OURS = ["gzip", "br", "zstd"];
const { bun, deno } = process.versions as Record<string, string | undefined>;
const contestants: readonly Contestant[] = [
  { name: "express, compression", plain: "express", codings: ["gzip"] },
  { name: "express, ours", plain: "express", codings: OURS },
  ...(bun || deno ? [] : [
    { name: "fastify, @fastify/compress", plain: "fastify", codings: ["gzip"] },
    { name: "fastify, ours", plain: "fastify", codings: OURS },
  ]),
  { name: "hono, hono/compress", plain: "hono", codings: ["gzip"] },
  { name: "hono, ours", plain: "hono", codings: OURS },
  ...(deno ? [{ name: "server, Deno's own", plain: "server", codings: ["gzip", "br"] }] : []),
  { name: "server, ours", plain: "server", codings: OURS },
].filter(({ name }) => new RegExp(values.filter).test(name));

class Server {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  #port = 0;

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
    return server;
  }

  async #read(): Promise<{ port: number; cpu: number }> {
    const { value } = await this.#lines.next();
    return JSON.parse(value);
  }

  /** Microseconds of CPU time so far. */
  async cpu(): Promise<number> {
    this.#process.stdin!.write("\n");
    return (await this.#read()).cpu;
  }

  get(path: string, accepted: string): Promise<{ coding: string | undefined; bytes: Uint8Array }> {
    return new Promise((resolve, reject) => {
      const headers = { "accept-encoding": accepted };
      const sent = request({ host: "127.0.0.1", port: this.#port, path, headers, agent: this.#agent }, (response) => {
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

  end(): void {
    this.#agent.destroy();
    this.#process.stdin!.end();
  }
}

/** Microseconds of CPU time a request. */
async function play(server: Server, path: string, accepted: string): Promise<number> {
  const before = await server.cpu();
  let left = REQUESTS;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (left-- > 0) await server.get(path, accepted);
  }));
  return (await server.cpu() - before) / REQUESTS;
}

interface Row {
  readonly name: string;
  readonly plain: string;
  readonly coding: string;
  bytes: number;
  least: number;
}

async function contest(path: string): Promise<string> {
  const servers = new Map<string, Server>();
  for (const name of new Set(contestants.flatMap(({ name, plain }) => [name, plain]))) {
    servers.set(name, await Server.start(name));
  }
  const rows: Row[] = contestants.flatMap(({ name, plain, codings }) =>
    codings.map((coding) => ({ name, plain, coding, bytes: 0, least: Infinity }))
  );
  const plains: Row[] = [...new Set(contestants.map(({ plain }) => plain))]
    .map((name) => ({ name, plain: name, coding: "identity", bytes: 0, least: Infinity }));
  const all = [...plains, ...rows];
  for (const row of all) row.bytes = await check(servers.get(row.name)!, path, row.coding);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const row of all) {
      const took = await play(servers.get(row.name)!, path, row.coding);
      if (round > 0) row.least = Math.min(row.least, took); // the first warms up
    }
  }
  for (const server of servers.values()) server.end();
  const added = (row: Row): number => row.least - plains.find(({ name }) => name === row.plain)!.least;
  const peers = rows.filter(({ name }) => !name.endsWith("ours"));
  return table(
    ["", "coding", "bytes", "CPU added a request", "of the peer's"],
    rows.map((row) => {
      const peer = peers.find(({ plain }) => plain === row.plain);
      const ratio = peer === undefined || peer === row ? "" : (added(row) / added(peer)).toFixed(2);
      return [row.name, row.coding, row.bytes.toLocaleString("en"), `${added(row).toFixed(0)} µs`, ratio];
    }),
  );
}

async function check(server: Server, path: string, accepted: string): Promise<number> {
  const { coding, bytes } = await server.get(path, accepted);
  if (accepted !== "identity" && coding !== accepted) throw new Error(`${accepted} was asked for, and ${coding} came`);
  const decoded = coding === undefined ? bytes : await decompress(bytes, { format: formats[coding] });
  if (new TextDecoder().decode(decoded) !== bodies[path].text) throw new Error(`${path} came as something else`);
  return bytes.length;
}

const parts: string[] = [];
for (const [path, { text }] of Object.entries(bodies)) {
  parts.push(`${path.slice(1)}, ${text.length.toLocaleString("en")} bytes:\n\n${await contest(path)}`);
}
const title = `compression: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Least of ${ROUNDS} rounds of ${REQUESTS} requests.\n\n${parts.join("\n\n")}`;
if (values.quick || values.filter) console.log(`\n${title}\n\n${body}\n`);
else writeSection(title, body);
