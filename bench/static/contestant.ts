import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { LineProcess } from "../line_process.ts";
import type { CpuTime, Listening } from "./server.ts";
import type { Scenario } from "./scenarios.ts";
import type { Site } from "./sites.ts";
import type { Checked, Load, Question, Visit } from "./visitors.ts";

const folder = dirname(fileURLToPath(import.meta.url));
const LIMIT = 30_000;

/** The figures of a server in one round; the CPU time is for one request, in microseconds. */
interface Round {
  readonly perSecond: number;
  readonly cpu: number;
}

/** Starts the process, always on Node, that checks servers and has wrk load them. */
export function startVisitors(): LineProcess {
  return new LineProcess(join(folder, "../../node_modules/.bin/node"), [join(folder, "visitors.ts")], LIMIT);
}

/**
 * Returns the options of the runtime for a server: the standard library of Deno resolves its imports by its own
 * settings.
 */
function runtimeArguments(name: string): string[] {
  if (!process.versions.deno) return [];
  const std = process.env.DENO_STD_ROOT;
  const settings = name.startsWith("std ") ? ["--config", join(std!, "deno.json"), "--no-lock"] : [];
  return ["run", "-A", "--no-check", ...settings];
}

/** A server in a process of its own, on the runtime measured. */
export class Contestant {
  readonly name: string;
  /** The reason for missing figures, if it failed. */
  failure: string | undefined;
  readonly #visitors: LineProcess;
  readonly #process: LineProcess;
  readonly #rounds: Round[] = [];
  #visit: Visit;

  constructor(name: string, { fields }: Scenario, site: Site, visitors: LineProcess) {
    this.name = name;
    this.#visitors = visitors;
    this.#visit = { port: 0, fields, folder: site.folder, paths: site.paths };
    const args = [...runtimeArguments(name), join(folder, "server.ts"), name, site.folder];
    this.#process = new LineProcess(process.execPath, args, LIMIT);
  }

  /** Waits for the server, sees whether all its answers are right, and warms it up. */
  async begin({ revalidates }: Scenario): Promise<void> {
    const listening = await this.#process.answer<Listening>();
    if ("failure" in listening) return this.#fail(listening.failure);
    const check = this.name.startsWith("bare 304") ? "always 304" : revalidates ? "revalidation" : "content";
    const checked = await this.#ask<Checked>({ ...this.#visit, port: listening.port, check });
    if (checked === undefined) return;
    this.#visit = { ...this.#visit, port: listening.port, tags: checked.tags };
    await this.#ask<Load>({ ...this.#visit, seconds: 1 });
  }

  /** Plays a round. A contestant that failed sits out. */
  async play(seconds: number): Promise<void> {
    if (this.failure !== undefined) return;
    const before = await this.#cpu();
    const load = await this.#ask<Load>({ ...this.#visit, seconds });
    const cpu = await this.#cpu() - before;
    if (load) this.#rounds.push({ perSecond: load.perSecond, cpu: cpu / load.requests });
  }

  /** The most requests a second, and the middle of all rounds; undefined unless all rounds went well. */
  get perSecond(): { best: number; median: number } | undefined {
    const ascending = this.#ascending(({ perSecond }) => perSecond);
    return ascending && { best: ascending.at(-1)!, median: ascending[ascending.length >> 1] };
  }

  /** The least CPU time for a request, in microseconds. */
  get cpu(): number | undefined {
    return this.#ascending(({ cpu }) => cpu)?.[0];
  }

  end(): Promise<void> {
    return this.#process.end();
  }

  #ascending(figure: (round: Round) => number): number[] | undefined {
    if (this.failure !== undefined || this.#rounds.length === 0) return undefined;
    return this.#rounds.map(figure).sort((a, b) => a - b);
  }

  async #ask<Answer extends object>(question: Question): Promise<Answer | undefined> {
    const answer = await this.#visitors.ask<Answer>(question);
    if (!("failure" in answer)) return answer as Answer;
    this.#fail(answer.failure as string);
    return undefined;
  }

  async #cpu(): Promise<number> {
    const answer = await this.#process.ask<CpuTime>("cpu");
    if (!("failure" in answer)) return answer.cpu;
    this.#fail(answer.failure);
    return NaN;
  }

  #fail(why: string): void {
    this.failure ??= why.replaceAll("|", "\\|");
  }
}
