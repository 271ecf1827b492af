import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundled } from "../bundled.ts";
import { type Failure, LineProcess } from "../line_process.ts";
import { cpuOf, peakMemoryOf } from "./process_figures.ts";
import type { Scenario } from "./scenarios.ts";
import type { Checked, Question } from "./sender.ts";
import type { Sent } from "./sending.ts";
import type { Listening, Names } from "./server.ts";

const folder = dirname(fileURLToPath(import.meta.url));
const LIMIT = 300_000;
const WARM_UP = { uploads: 4, bytes: 1_000_000 };
/** The limit of memory in MiB, which protects the machine. */
const MOST_MEMORY = 8192;

/** The figures of a server in one round. */
export interface Round extends Sent {
  /** CPU seconds of its process. */
  readonly cpu: number;
  /** The peak of its process's resident memory, in MiB. */
  readonly peak: number;
}

/** Always on Node: as light as any, since nearly all that it does is done by the kernel. */
export function startSender(): LineProcess {
  return new LineProcess(join(folder, "../../node_modules/.bin/node"), [join(folder, "sender.ts")], LIMIT);
}

/** Bundled, so that the memory is not that of a compiler. */
const serverScript = await bundled("bench/upload/server.ts", "external");

function startServer(...args: string[]): LineProcess {
  const run = process.versions.deno ? ["run", "-A", "--no-check"] : [];
  return new LineProcess(process.execPath, [...run, join(folder, "../..", serverScript), ...args], LIMIT);
}

/** Returns the names of all servers of this runtime. */
export async function namesHere(): Promise<readonly string[]> {
  const asked = startServer();
  const answer = successOf(await asked.answer<Names>());
  await asked.end();
  return answer.names;
}

/** A way to store uploads, and its figures in one scenario. */
export class Contestant {
  readonly name: string;
  /** The reason for missing figures, if it failed. */
  failure: string | undefined;
  readonly #sender: LineProcess;
  readonly #rounds: Round[] = [];

  constructor(name: string, sender: LineProcess) {
    this.name = name;
    this.#sender = sender;
  }

  /** Whether the contestant is this package. */
  get isOurs(): boolean {
    return this.name.startsWith("ours");
  }

  /** Whether the server keeps whole bodies in memory. */
  get isBuffered(): boolean {
    return this.name.includes("buffered");
  }

  /** Runs a round in a separate process, in a folder below `root`. A contestant that failed is skipped. */
  async play({ uploads, bytes }: Scenario, root: string): Promise<void> {
    if (this.failure !== undefined) return;
    mkdirSync(root, { recursive: true });
    const directory = mkdtempSync(join(root, "uploads-"));
    const server = startServer(this.name, directory);
    try {
      const { port, pid } = successOf(await server.answer<Listening>());
      await this.#ask<Sent>({ port, ...WARM_UP });
      for (let i = 0; i < WARM_UP.uploads; i++) rmSync(join(directory, String(i)));
      execFileSync("sync"); // pending writes of the others must not slow down this one
      const round = await this.#measure({ port, uploads, bytes }, pid);
      await this.#ask<Checked>({ folder: directory, uploads, bytes });
      this.#rounds.push(round);
    } catch (error) {
      this.failure = (error as Error).message.replaceAll("|", "\\|");
    } finally {
      await server.end();
      rmSync(directory, { recursive: true });
    }
  }

  /** The median of all rounds, for each figure separately; undefined unless all rounds succeeded. */
  get median(): Round | undefined {
    return this.#figures((ascending) => ascending[ascending.length >> 1]);
  }

  /** The minimum of all rounds, for each figure separately. */
  get least(): Round | undefined {
    return this.#figures(([first]) => first);
  }

  /** The highest peak of all rounds, in MiB. */
  get peak(): number | undefined {
    return this.#figures((ascending) => ascending.at(-1)!)?.peak;
  }

  #figures(choose: (ascending: number[]) => number): Round | undefined {
    if (this.failure !== undefined || this.#rounds.length === 0) return undefined;
    const of = (figure: keyof Round): number =>
      choose(this.#rounds.map((round) => round[figure]).sort((a, b) => a - b));
    return { wall: of("wall"), mean: of("mean"), p99: of("p99"), cpu: of("cpu"), peak: of("peak") };
  }

  async #measure(sending: Question, pid: number): Promise<Round> {
    let isTooLarge = false;
    const guard = setInterval(() => {
      isTooLarge ||= peakMemoryOf(pid) > MOST_MEMORY;
      if (isTooLarge) process.kill(pid, "SIGKILL");
    }, 100);
    try {
      const before = cpuOf(pid);
      const sent = await this.#ask<Sent>(sending);
      return { ...sent, cpu: cpuOf(pid) - before, peak: peakMemoryOf(pid) };
    } catch (error) {
      throw isTooLarge ? new Error(`takes more than ${MOST_MEMORY} MiB`) : error;
    } finally {
      clearInterval(guard);
    }
  }

  async #ask<Answer extends object>(question: Question): Promise<Answer> {
    return successOf(await this.#sender.ask<Answer>(question));
  }
}

function successOf<Answer extends object>(answer: Answer | Failure): Answer {
  if ("failure" in answer) throw new Error(answer.failure);
  return answer;
}
