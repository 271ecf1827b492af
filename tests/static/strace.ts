import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { root, runtime } from "../support/runtime.ts";

/** The reason why no process can be traced; false if it can. */
export const cannotTrace: string | false = reason();

function reason(): string | false {
  if (process.platform !== "linux") return "strace is for Linux";
  const { error, status, stderr } = spawnSync("strace", ["-f", "-o", "/dev/null", "-e", "trace=openat", "true"]);
  if (error) return "strace is not installed";
  return status === 0 ? false : `strace cannot trace here: ${stderr}`;
}

/** The system calls that take a path, and those that read from a descriptor. */
const CALLS = "%file,read,pread64,readv,preadv,preadv2,getdents64,fstat,sendfile,copy_file_range,mmap";

/** Deno asks whether there is a newer one; libuv may hand calls over in shared memory, where nothing sees them. */
const quiet = { DENO_NO_UPDATE_CHECK: "1", UV_USE_IO_URING: "0" };

/** Returns a path that is nowhere, for a mark in the log. */
export function markPath(name: string): string {
  return `/millrace-mark-${name}`;
}

/** A server of `traced_server.ts` whose system calls are written down. */
export class TracedServer {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #log: string;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, port: number, log: string) {
    this.#child = child;
    this.#lines = lines;
    this.port = port;
    this.#log = log;
  }

  /** Serves `directory` by `entry`; `folder` is for the log. */
  static async start(
    directory: string,
    entry: "node" | "fetch",
    memoryLimit: number,
    folder: string,
  ): Promise<TracedServer> {
    const log = join(folder, `${entry}-${memoryLimit}.strace`);
    const script = fileURLToPath(new URL("traced_server.ts", import.meta.url));
    const run = runtime === "deno" ? ["run", "-A", "--no-check", "--quiet", script] : [script];
    const command = [process.execPath, ...run, directory, entry, String(memoryLimit)];
    const options = ["-f", "-y", "-qq", "--seccomp-bpf", "-s", "200", "-e", `trace=${CALLS}`, "-o", log];
    const env = { ...process.env, ...quiet };
    const child = spawn("strace", [...options, ...command], { cwd: root, env, stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    const port = Number(/^port (\d+)$/.exec(value ?? "")?.[1]);
    if (Number.isNaN(port)) throw new Error(`the traced server said ${value}, not its port`);
    return new TracedServer(child, lines, port, log);
  }

  /** Writes a mark to the log: later calls of the server follow it. */
  async mark(name: string): Promise<void> {
    this.#child.stdin!.write(`mark ${name}\n`);
    await this.#lines.next();
  }

  /** Ends the server. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.on("close", resolve));
    this.#child.stdin!.end();
    await ended;
  }

  /** Ends the server, and returns its system calls, each as a text. */
  async calls(): Promise<string[]> {
    await this.stop();
    return wholeCalls(await readFile(this.#log, "utf8"));
  }
}

/** Joins the lines of calls that other threads interrupted, each at the place of its start. */
function wholeCalls(log: string): string[] {
  const calls: string[] = [];
  const unfinished = new Map<string, number>();
  for (const line of log.split("\n")) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest === undefined) continue;
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (resumed) {
      const at = unfinished.get(thread);
      if (at !== undefined) calls[at] += resumed[1];
    } else {
      unfinished.set(thread, calls.length);
      calls.push(rest.replace(/ <unfinished \.\.\.>$/, ""));
    }
  }
  return calls;
}

/** Returns the calls between two marks. */
export function between(calls: readonly string[], start: string, end: string): string[] {
  const from = calls.findIndex((call) => call.includes(`"${markPath(start)}"`));
  const to = calls.findLastIndex((call) => call.includes(`"${markPath(end)}"`));
  if (from < 0 || to < from) throw new Error(`the log lacks the mark ${start} or ${end}`);
  return calls.slice(from, to).filter((call) => !call.includes(`"${markPath(start)}"`));
}

/**
 * System calls of the runtime itself: Bun reads its memory use, Node the processor's speed, and Deno caches compiled
 * code.
 */
const housekeeping = /["<]\/proc\/|["<]\/sys\/|\/v8_code_cache_v\d+>/;

/**
 * Whether a call is about a file: it takes a path, or a descriptor of something that has one, and is not the runtime's
 * own affair.
 */
export function isAboutFile(call: string): boolean {
  if (housekeeping.test(call)) return false;
  if (/^(read|pread64|readv|preadv2?|fstat|mmap)\(/.test(call)) return /^\w+\([^)]*?\d<\//.test(call);
  return !/^(execve|\+\+\+|---)/.test(call);
}
