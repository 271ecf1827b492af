import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A script that runs in a process of its own, on the runtime that this one has; it speaks by lines. */
export class Child {
  /** The exit code, or the signal that ended the process. */
  readonly ended: Promise<number | string | null>;
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(script: URL, args: readonly string[]) {
    const run = "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : [];
    this.#process = spawn(process.execPath, [...run, fileURLToPath(script), ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.ended = new Promise((resolve) => this.#process.on("close", (code, signal) => resolve(code ?? signal)));
    this.#process.stdin!.on("error", () => {}); // it may be gone
    this.#lines = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  /** Returns the next line that it prints. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the process said no more");
    return value;
  }

  ask(question: string): Promise<string> {
    this.#process.stdin!.write(`${question}\n`);
    return this.line();
  }

  /** Closes the child's input, which ends its work. */
  leave(): void {
    this.#process.stdin!.end();
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** Stops the child until {@link wakeUp}. */
  freeze(): void {
    process.kill(this.#process.pid!, "SIGSTOP");
  }

  wakeUp(): void {
    process.kill(this.#process.pid!, "SIGCONT");
  }
}
