import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Failure, LineProcess } from "../line_process.ts";
import type { Rate, Ready } from "./measuring.ts";
import { KEEPS_MEMORY, runtimeCommand } from "./runtime_command.ts";

const script = join(dirname(fileURLToPath(import.meta.url)), "measuring.ts");
const { bun, deno } = process.versions;
const here: readonly string[] = runtimeCommand(bun ? "bun" : deno ? "deno" : "node", process.execPath);

/** The time in milliseconds after which a measurement hangs; with its warm-up it should take half a second. */
const LIMIT = 15_000;

/**
 * An implementation in one scenario, in a process of its own.
 *
 * Separate processes are fair: three implementations in one process moved each other's figures by up to 1.8x (Node, short
 * streams of fast-webstreams 3,310 alone, 1,780 after native), as did earlier work in it. Processes run in turns.
 */
export class Contestant {
  readonly name: string;
  readonly #process: LineProcess;
  readonly #rates: number[] = [];
  /** The reason for a missing rate, if it failed. */
  failure: string | undefined;

  /** `runtime` is the command that runs a script, by default on the runtime that runs this one. */
  constructor(name: string, title: string, aim: number, runtime: readonly string[] = here) {
    this.name = name;
    const [command, ...options] = runtime;
    const { MILLRACE_FORMER: former } = process.env;
    // Deno resolves `#streams/` by that checkout's own configuration; Node and Bun find it beside the modules.
    if (name === "former" && deno && former) options.push("--config", join(former, "deno.json"));
    this.#process = new LineProcess(command, [...options, script, name, title, String(aim)], LIMIT, KEEPS_MEMORY);
  }

  /** The fastest measurement; undefined if one failed. */
  get rate(): number | undefined {
    return this.failure === undefined && this.#rates.length > 0 ? Math.max(...this.#rates) : undefined;
  }

  /** Waits until the implementation is loaded, so that loading one does not slow another that is measured. */
  async ready(): Promise<void> {
    this.#take(await this.#process.answer<Ready>());
  }

  /** Measures once. A contestant that failed sits out. */
  async measure(): Promise<void> {
    if (this.failure === undefined) this.#take(await this.#process.ask<Rate>("measure"));
  }

  /** Ends the process. */
  end(): Promise<void> {
    return this.#process.end();
  }

  #take(answer: Ready | Rate | Failure): void {
    if ("failure" in answer) this.failure = answer.failure;
    else if ("rate" in answer) this.#rates.push(answer.rate);
  }
}
