import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { until } from "../../support/waits.ts";

/** Test cases that h2specd has for clients, each on a port of its own. */
export const CASES = 57;
/** Seconds that h2specd waits for an event. */
const PATIENCE = "20";
/** The number of attempts with another block of ports. */
const ATTEMPTS = 20;

/** h2specd's verdict on one connection; for a failure, with the expected and the actual behaviour. */
export interface Verdict {
  readonly passed: boolean;
  readonly text: string;
}

/** A run of h2specd (h2spec's tests of clients): a server for each test case, which judges every connection made to it. */
export class H2specServer {
  readonly #child: ChildProcess;
  readonly #from: number;
  readonly #scheme: string;
  #output = "";

  private constructor(binary: string, scheme: "http" | "https", from: number) {
    const certificate = (name: string): string =>
      fileURLToPath(new URL(`../certificates/localhost.${name}`, import.meta.url));
    const tls = scheme === "https" ? ["--tls", "-c", certificate("pem"), "-k", certificate("key")] : [];
    // The port before the first serves a page without use here.
    const ports = ["-p", String(from - 1), "-f", String(from)];
    this.#child = spawn(binary, [...ports, "-o", PATIENCE, ...tls], { stdio: ["ignore", "pipe", "pipe"] });
    this.#from = from;
    this.#scheme = scheme;
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => this.#output += text);
    }
  }

  /** Starts it on the first ports in a row that are free. */
  static async start(binary: string, scheme: "http" | "https"): Promise<H2specServer> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Below the ports that systems give out by themselves.
      const server = new H2specServer(binary, scheme, 10_001 + Math.floor(Math.random() * 300) * 64);
      await until(() => server.#isReady || server.#child.exitCode !== null, "h2specd");
      if (server.#isReady) return server;
    }
    throw new Error(`h2specd found no ${CASES} free ports in a row`);
  }

  /** The URL of each test case. */
  get urls(): string[] {
    return Array.from({ length: CASES }, (_, index) => `${this.#scheme}://127.0.0.1:${this.#from + index}/`);
  }

  /** Waits until all connections but some have a verdict. */
  async judged(exceptions: number): Promise<void> {
    const count = (pattern: RegExp): number => this.#output.match(pattern)?.length ?? 0;
    await until(() => {
      const judged = count(/^[✔×] /gm);
      return judged >= CASES - exceptions && judged >= count(/^Generic tests for HTTP\/2 client/gm) - exceptions;
    }, `${CASES - exceptions} verdicts: ${this.#output}`);
  }

  /** Returns the verdicts, once every connection has one. */
  async verdicts(): Promise<Verdict[]> {
    await this.judged(0);
    return this.#output.split(/^(?=[✔×] )/m).slice(1)
      .map((text) => ({ passed: text.startsWith("✔"), text: text.replace(/^Generic tests.*\n/gm, "") }));
  }

  /** Ends it. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill();
    await ended;
  }

  get #isReady(): boolean {
    return this.#output.includes("Report server is listened");
  }
}
