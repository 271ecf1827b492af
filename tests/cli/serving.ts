import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";
import { cli } from "../support/command.ts";

const isDeno = "deno" in process.versions;

/** Returns the words that run the command line on the runtime that runs the tests. */
export function command(words: readonly string[]): string[] {
  return [process.execPath, ...(isDeno ? ["run", "-A", "--no-check"] : []), cli, ...words];
}

/** `millrace serve` as it runs, on the runtime that runs the tests. */
export class Serving {
  stdout = "";
  stderr = "";
  /** The URL that the command prints; empty before. */
  url = "";
  /** The exit status, once it has ended. */
  readonly ended: Promise<number | null>;
  #hasEnded = false;
  readonly #child: ChildProcess;

  private constructor(words: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    const [program, ...rest] = command(["serve", ...words]);
    this.#child = spawn(program!, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      env,
    });
    this.#child.stdout!.on("data", (chunk) => this.stdout += chunk);
    this.#child.stderr!.on("data", (chunk) => this.stderr += chunk);
    this.ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      // Deno reports an exit status above 128 as the signal that the status means in a shell, and does so for any
      // signal after `child.kill()`.
      this.#child.on("close", (status, signal) => {
        this.#hasEnded = true;
        resolve(status ?? (signal && 128 + constants.signals[signal]));
      });
    });
  }

  /** Starts it at a free port, gives it to `use` when it listens, and ends it. */
  static async during(words: readonly string[], use: (serving: Serving) => Promise<void>): Promise<void> {
    await Serving.asIs(["--port", "0", ...words], process.env, use);
  }

  /** Starts the command at the port in its words or the environment. */
  static async asIs(
    words: readonly string[],
    env: NodeJS.ProcessEnv,
    use: (serving: Serving) => Promise<void>,
  ): Promise<void> {
    const serving = new Serving(words, env);
    try {
      const line = /at (https?:\S+)/;
      await serving.until(() => line.test(serving.stdout + serving.stderr));
      serving.url = line.exec(serving.stdout + serving.stderr)![1]!;
      await use(serving);
    } finally {
      await serving.#kill();
    }
  }

  /** Starts it at `port`, gives it to `use` when that is answered, and ends it. */
  static async atPort(port: number, words: readonly string[], use: (serving: Serving) => Promise<void>): Promise<void> {
    const serving = new Serving(["--port", String(port), ...words]);
    serving.url = `http://127.0.0.1:${port}/`;
    try {
      await serving.until(() => fetch(serving.url).then((response) => response.ok, () => false));
      await use(serving);
    } finally {
      await serving.#kill();
    }
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.#child.pid!, signal);
  }

  async #kill(): Promise<void> {
    if (!this.#hasEnded) this.signal("SIGKILL");
    await this.ended;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Waits until `holds`; fails with the output if the command ends, or after 20 s. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 60_000;
    while (!await holds()) {
      if (this.#hasEnded || Date.now() > deadline) {
        throw new Error(`it did not come to that; stdout: ${this.stdout}; stderr: ${this.stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
