import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundled } from "../bundled.ts";
import { type Failure, LineProcess } from "../line_process.ts";
import type { ClientQuestion, ClientSetup, Took } from "./client_questions.ts";
import type { Opened, OriginOptions, OriginQuestion, Seen } from "./origin_options.ts";
import type { Scenario } from "./scenarios.ts";

const folder = dirname(fileURLToPath(import.meta.url));
const certificates = join(folder, "../../tests/http/certificates");
const authority = join(certificates, "ca.pem");
const ca = readFileSync(authority, "utf8");
const LIMIT = 30_000;

/** The figures of a client in one round, and the traffic the origin saw. */
export interface Round extends Took {
  readonly seen: Seen;
  /** CPU seconds of the origin. */
  readonly originCpu: number;
}

/** The origins' process; always on Node. */
export class Origins {
  readonly #process = new LineProcess(
    join(folder, "../../node_modules/.bin/node"),
    [join(folder, "origin.ts"), join(certificates, "localhost.pem"), join(certificates, "localhost.key")],
    LIMIT,
  );

  async open(options: OriginOptions): Promise<number> {
    return (await this.#ask<Opened>({ open: options })).port;
  }

  /** Returns the traffic since the previous call. */
  async trafficOf(port: number): Promise<Seen> {
    return await this.#ask<Seen>({ trafficOf: port });
  }

  end(): Promise<void> {
    return this.#process.end();
  }

  async #ask<Answer extends object>(question: OriginQuestion): Promise<Answer> {
    return successOf(await this.#process.ask<Answer>(question));
  }
}

/** Bundled, so that the memory is not that of a compiler. */
const script = join(folder, "../..", await bundled("bench/http/client.ts", "external"));

/** A client in a process of its own, on the runtime measured. */
export class Contestant {
  readonly name: string;
  readonly rounds: Round[] = [];
  /** The reason for missing figures, if it failed. */
  failure: string | undefined;
  readonly #origins: Origins;
  readonly #origin: OriginOptions;
  #process: LineProcess | undefined;

  constructor(name: string, { origin }: Scenario, origins: Origins) {
    this.name = name;
    this.#origin = origin;
    this.#origins = origins;
  }

  /** Plays a round with the origin at `port`. A contestant that failed sits out. */
  async play(port: number, question: (setup: ClientSetup) => ClientQuestion): Promise<Round | undefined> {
    if (this.failure !== undefined) return undefined;
    const { secure, protocols } = this.#origin;
    const url = `${secure ? "https" : "http"}://127.0.0.1:${port}/`;
    const setup = { url, isHttp2: protocols[0] === "h2", ca };
    try {
      const client = this.#process ??= this.#start(setup);
      const before = await this.#origins.trafficOf(port);
      const took = successOf(await client.ask<Took>(question(setup)));
      const seen = await this.#origins.trafficOf(port);
      return { ...took, seen, originCpu: seen.cpu - before.cpu };
    } catch (error) {
      this.failure = (error as Error).message.replaceAll("|", "\\|");
      return undefined;
    }
  }

  async end(): Promise<void> {
    await this.#process?.end();
    this.#process = undefined;
  }

  #start(setup: ClientSetup): LineProcess {
    const run = process.versions.deno ? ["run", "-A", "--no-check"] : [];
    process.env.NODE_EXTRA_CA_CERTS = process.env.DENO_CERT = authority; // own fetch takes its authority from the environment only
    return new LineProcess(process.execPath, [...run, script, this.name, JSON.stringify(setup)], LIMIT);
  }
}

function successOf<Answer extends object>(answer: Answer | Failure): Answer {
  if ("failure" in answer) throw new Error(answer.failure);
  return answer;
}
