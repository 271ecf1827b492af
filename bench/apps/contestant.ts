import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Failure, LineProcess } from "../line_process.ts";
import type { CpuTime, Listening, Load, Parts, ServerQuestion, Visits } from "./questions.ts";
import type { Way } from "./ways.ts";

const folder = dirname(fileURLToPath(import.meta.url));
const LIMIT = 30_000;
const CONNECTIONS = 100;

/** The client, always on Node: a slower one would hide differences. It has the proxy's origin, too. */
export class Client {
  readonly #process: LineProcess = new LineProcess(
    join(folder, "../../node_modules/.bin/node"),
    [join(folder, "load.ts")],
    LIMIT,
  );

  /** Resolves to the URL of the origin. */
  async ready(): Promise<string> {
    const { port } = successOf(await this.#process.answer<Listening>());
    return `http://127.0.0.1:${port}/`;
  }

  async load(visits: Visits): Promise<Load> {
    return successOf(await this.#process.ask<Load>(visits));
  }

  end(): Promise<void> {
    return this.#process.end();
  }
}

/** The figures of one round; CPU time is the server's, in microseconds a request. */
export interface Round extends Load {
  readonly cpu: number;
}

/** A server of one program by one way, in a process of its own on the runtime measured. */
export class Contestant {
  readonly way: Way;
  /** The reason for missing figures, if it failed. */
  failure: string | undefined;
  readonly #title: string;
  readonly #client: Client;
  readonly #process: LineProcess;
  readonly #rounds: Round[] = [];
  #port = 0;

  constructor(way: Way, title: string, client: Client, origin: string) {
    this.way = way;
    this.#title = title;
    this.#client = client;
    const { MILLRACE_FORMER: former } = process.env;
    const config = way === "former" ? ["--config", join(former!, "deno.json")] : []; // has the target of the import `#streams/`
    const run = process.versions.deno ? ["run", "-A", "--no-check", ...config] : [];
    const args = [...run, join(folder, "server.ts"), way, title, origin];
    this.#process = new LineProcess(process.execPath, args, LIMIT);
  }

  /** Waits for the server, and warms it up. */
  begin(milliseconds: number): Promise<void> {
    return this.#attempt(async () => {
      const { port } = successOf(await this.#process.answer<Listening>());
      this.#port = port;
      await this.#load(milliseconds);
    });
  }

  /** Plays a round. A contestant that failed sits out. */
  play(milliseconds: number): Promise<void> {
    return this.#attempt(async () => {
      const before = await this.#ask<CpuTime>("cpu");
      const load = await this.#load(milliseconds);
      const { cpu } = await this.#ask<CpuTime>("cpu");
      this.#rounds.push({ ...load, cpu: (cpu - before.cpu) / load.requests });
    });
  }

  /** Plays a round under the CPU profiler. Times are in microseconds a request. */
  async profile(milliseconds: number): Promise<Parts | undefined> {
    let parts: Parts | undefined;
    await this.#attempt(async () => {
      await this.#ask<CpuTime>("profile");
      const { requests } = await this.#load(milliseconds);
      const { times, functions } = await this.#ask<Parts>("parts");
      const each = Object.entries(times).map(([part, time]) => [part, time / requests]);
      parts = { times: Object.fromEntries(each) as Parts["times"], functions };
    });
    return parts;
  }

  /** The round with the most requests a second, and the middle CPU time of all; undefined if any round failed. */
  get best(): Round | undefined {
    if (this.failure !== undefined || this.#rounds.length === 0) return undefined;
    const best = this.#rounds.reduce((best, round) => round.perSecond > best.perSecond ? round : best);
    const cpus = this.#rounds.map(({ cpu }) => cpu).sort((a, b) => a - b);
    return { ...best, cpu: cpus[cpus.length >> 1] };
  }

  end(): Promise<void> {
    return this.#process.end();
  }

  #load(milliseconds: number): Promise<Load> {
    return this.#client.load({ port: this.#port, program: this.#title, connections: CONNECTIONS, milliseconds });
  }

  async #ask<Answer extends object>(question: ServerQuestion): Promise<Answer> {
    return successOf(await this.#process.ask<Answer>(question));
  }

  async #attempt(play: () => Promise<void>): Promise<void> {
    if (this.failure !== undefined) return;
    try {
      await play();
    } catch (error) {
      this.failure = (error as Error).message.replaceAll("|", "\\|");
    }
  }
}

function successOf<Answer extends object>(answer: Answer | Failure): Answer {
  if ("failure" in answer) throw new Error(answer.failure);
  return answer;
}
