import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { StaticHandlerOptions, StaticWarning } from "../../lib/static/mod.ts";
import { root, runtime } from "../support/runtime.ts";
import type { Entry } from "./served_handler.ts";
import { needs } from "../support/needs.ts";

/** The reason why a process cannot be examined from outside; false if it can. */
export const cannotLookInside: string | false = needs("proc");

/** A server of `served_folder.ts`. */
export class ServerProcess {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<number | null>;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, ended: Promise<number | null>, port: number) {
    this.port = port;
    this.#child = child;
    this.#lines = lines;
    this.#ended = ended;
  }

  /** Serves `directory` by `entry`, with at most `most` descriptors if given. */
  static async start(
    directory: string,
    entry: Entry,
    options: StaticHandlerOptions = {},
    most?: number,
  ): Promise<ServerProcess> {
    const script = fileURLToPath(new URL("served_folder.ts", import.meta.url));
    const run = runtime === "deno" ? ["run", "-A", "--no-check", "--quiet", script] : [script];
    const limit = most === undefined ? [] : ["sh", "-c", `ulimit -n ${most} && exec "$@"`, "sh"];
    const [command, ...args] = [...limit, process.execPath, ...run, directory, entry, JSON.stringify(options)];
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["pipe", "pipe", "ignore"], // runtimes print errors of streams that are broken off on purpose
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    const port = Number(/^port (\d+)$/.exec(value ?? "")?.[1]);
    if (Number.isNaN(port)) throw new Error(`the server said ${value}, not its port`);
    return new ServerProcess(child, lines, ended, port);
  }

  /** @throws {Error} if the handler's `reload()` rejects. */
  async reload(): Promise<void> {
    const answer = await this.#ask("reload");
    if (answer !== "reloaded") throw new Error(`reload() ${answer}`);
  }

  /** Returns the warnings of the handler. */
  async warnings(): Promise<StaticWarning[]> {
    return JSON.parse(await this.#ask("warnings"));
  }

  /** Closes the handler and the server, after which the process must end; returns its exit code. */
  async leave(): Promise<number | null> {
    const answer = await this.#ask("leave");
    if (answer !== "closed") throw new Error(`close() was followed by ${answer}`);
    return this.#ended;
  }

  /** The number of descriptors that the process has open. */
  get descriptors(): number {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length;
  }

  /** The memory of the process, in MB. */
  get memory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
  }

  /** Returns the number of open descriptors on files whose path begins so. */
  descriptorsBelow(path: string): number {
    const folder = `/proc/${this.#child.pid}/fd`;
    return readdirSync(folder).filter((fd) => targetOf(join(folder, fd)).startsWith(path)).length;
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended;
  }

  async #ask(command: string): Promise<string> {
    this.#child.stdin!.write(`${command}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the server ended when it was told to ${command}`);
    return value;
  }
}

/** Returns the target of a descriptor; empty if it was closed in the meantime. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}
