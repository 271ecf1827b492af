import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Outcome, Readiness } from "./measuring.ts";

const script = join(dirname(fileURLToPath(import.meta.url)), "measuring.ts");
const run: readonly string[] = process.versions.deno ? ["run", "-A"] : [];

/** What takes longer than this, in milliseconds, hangs: a measurement with its warm-up is meant to take half a second. */
const LIMIT = 15_000;

/**
 * One implementation in one scenario, in a process of its own.
 *
 * A process each is the fair way: three in one process moved each other's figures by up to 1.8x either way (Node, short
 * streams of fast-webstreams 3,310 alone, 1,780 after native), and what ran before within it counted too. Processes
 * wait while others take their turn.
 */
export class Contestant {
  readonly name: string;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;
  readonly #rates: number[] = [];
  /** Why it has no rate, if it failed. */
  failure: string | undefined;

  constructor(name: string, title: string, aim: number) {
    this.name = name;
    this.#process = spawn(process.execPath, [...run, script, name, title, String(aim)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process.stdin.on("error", () => {}); // of a process that has failed: its missing answer tells
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** The fastest measurement, unless any of them failed. */
  get rate(): number | undefined {
    return this.failure === undefined && this.#rates.length > 0 ? Math.max(...this.#rates) : undefined;
  }

  /** Waits until the implementation is loaded, so that loading one does not slow another that is measured. */
  async ready(): Promise<void> {
    await this.#answer();
  }

  /** Measures once. A contestant that failed sits out. */
  async measure(): Promise<void> {
    if (this.failure !== undefined) return;
    this.#process.stdin.write("measure\n");
    const answer = await this.#answer();
    if ("rate" in answer) this.#rates.push(answer.rate);
  }

  /** Ends the process. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.stdin.end();
    await once(this.#process, "close");
  }

  async #answer(): Promise<Outcome | Readiness> {
    let hung = false;
    const limit = setTimeout(() => {
      hung = true;
      this.#process.kill("SIGKILL");
    }, LIMIT);
    const { value, done } = await this.#answers.next();
    clearTimeout(limit);
    const answer = done
      ? { failure: hung ? `hangs (${LIMIT / 1000} s)` : "its process ended" }
      : JSON.parse(value) as Outcome | Readiness;
    if ("failure" in answer) this.failure = answer.failure;
    return answer;
  }
}
