import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** The response in place of a result: the reason, in one line, that there is none. */
export interface Failure {
  readonly failure: string;
}

/** A process that answers each line of JSON with one line of JSON. */
export class LineProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;
  readonly #limit: number;

  /**
   * Starts `command`. An answer that takes longer than `limit` milliseconds is a failure, and ends the process.
   *
   * @param environment variables beside those of this process.
   */
  constructor(command: string, args: readonly string[], limit: number, environment: Record<string, string> = {}) {
    const env = { ...process.env, ...environment };
    this.#process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], env });
    this.#process.stdin.on("error", () => {}); // after the process has ended, whose missing answer is an error
    this.#answers = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    this.#limit = limit;
  }

  /** Asks, and resolves to the answer. */
  ask<Answer>(question: unknown): Promise<Answer | Failure> {
    this.#process.stdin.write(`${JSON.stringify(question)}\n`);
    return this.answer();
  }

  /** Resolves to the next line; the first one needs no question. */
  async answer<Answer>(): Promise<Answer | Failure> {
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      this.#process.kill("SIGKILL");
    }, this.#limit);
    const { value, done } = await this.#answers.next();
    clearTimeout(timer);
    if (!done) return JSON.parse(value) as Answer | Failure;
    return { failure: hung ? `hangs (${this.#limit / 1000} s)` : "its process ended" };
  }

  /** Ends the process by closing its input. */
  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.stdin.end();
    await once(this.#process, "close");
  }
}
