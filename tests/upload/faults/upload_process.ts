import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { root, runtime } from "../../support/runtime.ts";
import { needs } from "../../support/needs.ts";

/** The ways to a handler: its two entry points, one of them on two protocols. */
export type UploadEntry = "node" | "fetch" | "http2";

/** The entry points for HTTP/1.1. */
export const uploadEntries: readonly UploadEntry[] = ["node", "fetch"];

/** The reason why a process cannot be examined from outside; false if it can. */
export const cannotLookInside: string | false = needs("proc");

/** A log entry of an upload. */
export interface Logged {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
  readonly code: string | undefined;
  readonly error: string | undefined;
}

/** The system's limits for a process. */
export interface ProcessLimits {
  /** The limit of a file's size in KiB. Default: the system's. */
  readonly largestFile?: number;
  /** The limit of open files and connections. Default: the system's. */
  readonly descriptors?: number;
}

/** Deno's message about a connection closed because its sender continued after the response. */
const CUT = "An upload was refused, and its connection closed since more of it might have come\n";

/** A server of `serving_uploads.ts`. */
export class UploadProcess {
  port = 0;
  #complaints = "";
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    this.#ended = once(child, "close");
    child.stderr!.setEncoding("utf8").on("data", (text: string) => this.#complaints += text);
  }

  /** Stores uploads in a folder, or the bucket whose options `place` has as JSON. */
  static async start(
    place: string,
    entry: UploadEntry,
    options: Partial<UploadHandlerOptions> = {},
    limits: ProcessLimits = {},
  ): Promise<UploadProcess> {
    const script = fileURLToPath(new URL("serving_uploads.ts", import.meta.url));
    const run = runtime === "deno"
      ? ["run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc", script]
      : [script];
    const limited = ["sh", "-c", `${limitsInWords(limits)} exec "$@"`, "sh"];
    const [command, ...args] = [...limited, process.execPath, ...run, place, entry, JSON.stringify(options)];
    const child = spawn(command, args, { cwd: root, stdio: ["pipe", "pipe", "pipe"] });
    const server = new UploadProcess(child);
    await server.#learnPort();
    return server;
  }

  /** All that it wrote to standard error: nothing, if all is well. */
  get complaints(): string {
    return runtime === "deno" ? this.#complaints.replaceAll(CUT, "") : this.#complaints;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Returns the log entries since the previous call. */
  async takeLog(): Promise<Logged[]> {
    return JSON.parse(await this.#told("log"));
  }

  /** Returns whether the handler has the request with an `X-Request`. */
  async hasBegun(id: string): Promise<boolean> {
    return await this.#told(`begun ${id}`) === "true";
  }

  /** Returns the memory of the process when all garbage is collected, in MB. */
  async heldMemory(): Promise<number> {
    await this.#told("collect");
    return this.memory.now;
  }

  async #told(command: string): Promise<string> {
    this.#child.stdin!.write(`${command}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the server has ended: ${this.complaints}`);
    return value;
  }

  /** The number of descriptors that the process has open. */
  get descriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /**
   * The open connections, pipes and event descriptors of the process. Files and pairs of sockets within the process are
   * left out: runtimes open both for themselves.
   */
  get channels(): string[] {
    const folder = `/proc/${this.pid}/fd`;
    const local = new Set(readFileSync(`/proc/${this.pid}/net/unix`, "utf8").match(/(?<= )\d+(?=\n| [/@])/g));
    const targets = new Set(readdirSync(folder).map((fd) => targetOf(join(folder, fd))));
    return [...targets].filter((target) =>
      /^[^/]/.test(target) && !local.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? "")
    );
  }

  /** Returns the number of open descriptors on files whose path begins so. */
  descriptorsBelow(path: string): number {
    const folder = `/proc/${this.pid}/fd`;
    return readdirSync(folder).filter((fd) => targetOf(join(folder, fd)).startsWith(path)).length;
  }

  /** The memory of the process, now and at its peak, in MB. */
  get memory(): { readonly now: number; readonly most: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)![1]) / 1024;
    return { now: of("VmRSS"), most: of("VmHWM") };
  }

  /** Ends the process in the middle of whatever it does. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async #learnPort(): Promise<void> {
    const { value } = await this.#lines.next();
    this.port = Number(/^port (\d+)$/.exec(value ?? "")?.[1]);
    if (Number.isNaN(this.port)) throw new Error(`the server said ${value}, not its port: ${this.complaints}`);
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended;
  }
}

function limitsInWords({ largestFile, descriptors }: ProcessLimits): string {
  const words = descriptors === undefined ? "" : `ulimit -n ${descriptors} &&`;
  // Without the trap a signal would end the process. The unit of `sh` is half a KiB.
  return largestFile === undefined ? words : `${words} trap '' XFSZ && ulimit -f ${2 * largestFile} &&`;
}

/** Returns the target of a descriptor; empty if it was closed in the meantime. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}
