import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openFileReadable } from "../../../lib/files/mod.ts";
import { decompress } from "../../../lib/codecs/mod.ts";
import { precompress } from "../../../lib/precompress/mod.ts";
import { noise, sourceText } from "../../support/bytes.ts";
import { randomNumbers } from "../../support/random_numbers.ts";
import { within } from "../../support/waits.ts";
import type { Sample } from "../process_state.ts";
import { faultsOf, growthOf } from "../verdict.ts";
import { selfHashed, sha256 } from "./contents.ts";
import { senders, type Target } from "./senders.ts";
import { startUpstream } from "./upstream.ts";

/** The number of clients at a time. */
export const CLIENTS = 24;
/** The number of samples of a run. */
const SAMPLES = 40;
/** The longest that any client may take, in ms. */
const PATIENCE = 60_000;
/** The rise of memory, after a quarter of a run of 40 minutes or more, that is no leak. */
const FLAT = 1.05;
const FLAT_FROM = 40 * 60_000;

/** A sample of the server, and the time of 99% of the answers since the one before, in ms. */
export interface Moment extends Sample {
  readonly p99: number;
}

/** The end of a run. */
export interface Course {
  readonly moments: readonly Moment[];
  /** The number of visits by each kind of client, and their results. */
  readonly sent: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
}

interface State {
  readonly foreign: number;
  readonly unhandled: readonly string[];
  readonly sample: Sample;
}

/** Runs a server against hostile clients for a time, ends it, and checks for losses and leaks. */
export async function soakTogether(command: readonly string[], milliseconds: number, seed: number): Promise<Course> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-soak-"));
  const upstream = await startUpstream();
  let server: Server | undefined;
  try {
    const files = await makeSite(join(folder, "dist"));
    for (const name of ["uploads", "logs"]) await mkdir(join(folder, name));
    server = await Server.start(command, [folder, upstream.origin]);
    return await run(server, folder, files, milliseconds, seed);
  } finally {
    server?.process.kill("SIGKILL");
    upstream.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(
  server: Server,
  folder: string,
  files: ReadonlyMap<string, string>,
  milliseconds: number,
  seed: number,
): Promise<Course> {
  const answered = new Answered();
  const target: Target = { port: server.port, files, large: "/large.bin", answered: (id) => answered.add(id) };
  const faults: string[] = [];
  const sent = new Map<string, number>();
  const moments: Moment[] = [];
  let times: number[] = [];
  let next = 0;
  const start = performance.now();
  const isOver = (): boolean => performance.now() - start >= milliseconds || faults.length > 20;

  const client = async (random: (below: number) => number): Promise<void> => {
    while (!isOver()) {
      const { send, timed } = chosen(random);
      const began = performance.now();
      try {
        await within(send(target, next++, random), send.name, PATIENCE);
        sent.set(send.name, (sent.get(send.name) ?? 0) + 1);
      } catch (error) {
        const { message, cause } = error as Error;
        faults.push(`${send.name}: ${message.split("\n").slice(0, 5).join(" ")}${cause ? `: ${cause}` : ""}`);
      }
      if (timed) times.push(performance.now() - began);
    }
  };
  const watch = async (): Promise<void> => {
    for (let i = 0; i < SAMPLES && !isOver(); i++) {
      await pause(start + (i + 1) * milliseconds / SAMPLES - performance.now());
      const sorted = times.toSorted((a, b) => a - b);
      times = [];
      const { sample } = await server.state();
      moments.push({ ...sample, p99: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0) });
    }
  };
  const deploy = async (): Promise<void> => {
    for (let version = 1; !isOver(); version++) {
      await writeFile(join(folder, "new.js"), selfHashed(version));
      await rename(join(folder, "new.js"), join(folder, "dist/live.js"));
      await server.ask("/reload");
      await pause(Math.min(1000, milliseconds / 10));
    }
  };
  const { sample: first } = await server.state();
  const clients = Array.from({ length: CLIENTS }, (_, i) => client(randomNumbers(seed + i * 7_368_787)));
  await Promise.all([...clients, watch(), deploy()]);

  const { foreign, unhandled, sample: last } = await server.settled(first.files);
  if (foreign > 0) faults.push(`${foreign} looks into the context of another request`);
  // Connections that are kept, and the log, which came with the first request.
  if (last.files > first.files + 10) faults.push(`${last.files} descriptors are left of ${first.files}`);
  const code = await server.stop();
  if (code !== 0) faults.push(`the server ended with ${code}`);
  const lost = await answered.missingIn(join(folder, "logs"));
  if (lost > 0) faults.push(`${lost} lines of ${answered.count} are lost`);
  faults.push(...faultsOf({ samples: moments, unhandled }));
  const growth = growthOf(moments, "rss");
  if (growth && milliseconds >= FLAT_FROM && growth.after > growth.before * FLAT) {
    faults.push(`memory is not flat: ${growth.before} MB became ${growth.after}`);
  }
  return { moments, sent, faults };
}

function chosen(random: (below: number) => number): (typeof senders)[number] {
  let left = random(senders.reduce((sum, { weight }) => sum + weight, 0));
  return senders.find(({ weight }) => (left -= weight) < 0)!;
}

/** Makes a site with variants; gives its files that do not change, with their hashes. */
async function makeSite(folder: string): Promise<ReadonlyMap<string, string>> {
  await mkdir(folder);
  const files = new Map<string, Uint8Array>([["index.html", Buffer.from("<!doctype html><title>Mill</title>")]]);
  for (let i = 0; i < 30; i++) files.set(`page-${i}.html`, sourceText(3000 + i * 500, i));
  files.set("app.js", sourceText(90_000));
  for (const [path, bytes] of files) await writeFile(join(folder, path), bytes);
  await precompress(folder, { levels: { brotli: 5, zstd: 3, gzip: 6 }, jobs: 1 });
  await writeFile(join(folder, "large.bin"), noise(3_000_000));
  await writeFile(join(folder, "live.js"), selfHashed(0));
  return new Map([...files].map(([path, bytes]) => [`/${path}`, sha256(bytes)]));
}

/** The server's process. */
class Server {
  readonly process: ChildProcess;
  readonly port: number;
  readonly #ended: Promise<unknown[]>;

  private constructor(process: ChildProcess, port: number, ended: Promise<unknown[]>) {
    [this.process, this.port, this.#ended] = [process, port, ended];
  }

  static async start([program, ...words]: readonly string[], args: readonly string[]): Promise<Server> {
    const path = fileURLToPath(new URL("server.ts", import.meta.url));
    const child = spawn(program, [...words, path, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    // The end of the output is for the error of a server that ends: runtimes also print failures of cut bodies.
    let printed = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => printed = (printed + text).slice(-2000));
    const ended = once(child, "exit");
    const failed = ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}: ${printed}`)));
    const [line] = await within(Promise.race([once(child.stdout!, "data"), failed]), "the server's port");
    failed.catch(() => {});
    return new Server(child, Number(line), ended);
  }

  async ask(path: string): Promise<Response> {
    return await fetch(`http://127.0.0.1:${this.port}${path}`, { signal: AbortSignal.timeout(PATIENCE) });
  }

  async state(): Promise<State> {
    return await (await this.ask("/state")).json();
  }

  /** Returns the state once connections have ended, or after 20 s. */
  async settled(files: number): Promise<State> {
    for (let i = 0; i < 100; i++) {
      const state = await this.state();
      if (state.sample.files <= files + 5) return state;
      await pause(200);
    }
    return await this.state();
  }

  async stop(): Promise<unknown> {
    process.kill(this.process.pid!, "SIGTERM");
    const late = new Promise<unknown[]>((resolve) =>
      setTimeout(resolve, PATIENCE, ["nothing within a minute"]).unref()
    );
    const [code, signal] = await Promise.race([this.#ended, late]);
    return code ?? signal;
  }
}

/** The requests that were answered, a bit for each, as a run has millions; ids are in quarters. */
class Answered {
  #bits = new Uint8Array(1024);
  count = 0;

  add(id: number): void {
    const [at, bit] = this.#place(id);
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(2 * at);
      larger.set(this.#bits);
      this.#bits = larger;
    }
    if ((this.#bits[at] & bit) === 0) this.count++;
    this.#bits[at] |= bit;
  }

  /** Counts the requests without a line in a series of logs. */
  async missingIn(folder: string): Promise<number> {
    let left = this.count;
    for (const path of globSync("access-*", { cwd: folder })) {
      const bytes = path.endsWith(".zst")
        ? await decompress(await readFile(join(folder, path)), { format: "zstd" })
        : await new Response(await openFileReadable(join(folder, path))).bytes();
      for (const [, id] of Buffer.from(bytes).toString().matchAll(/^([\d.]+) \d+$/gm)) {
        const [at, bit] = this.#place(Number(id));
        if ((this.#bits[at] & bit) === 0) continue;
        this.#bits[at] &= ~bit;
        left--;
      }
    }
    return left;
  }

  #place(id: number): [at: number, bit: number] {
    return [Math.floor(id * 4) >> 3, 1 << (id * 4 & 7)];
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
