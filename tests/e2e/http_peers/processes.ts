import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Origins } from "./application.ts";

const PATIENCE = 20_000;

/** A server in a process of its own. */
export interface PeerProcess<Served = Origins> {
  readonly origins: Served;
  /** Sends the server's parent process a signal. */
  signal(name: "SIGHUP" | "SIGUSR1" | "SIGTERM"): void;
  close(): Promise<void>;
}

/** Returns the path of a program; undefined if it is missing. Some programs are not on the usual `PATH`. */
export function programPath(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/usr/local/go/bin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Returns the runtime that this package is tested with; undefined if it is not installed. */
export function runtimePath(name: "node" | "deno" | "bun"): string | undefined {
  const path = fileURLToPath(new URL(`../../../node_modules/.bin/${name}`, import.meta.url));
  return existsSync(path) ? path : undefined;
}

/** Starts a server that says its origins on standard output, and ends with its standard input. */
export async function startApplication(command: string, words: readonly string[]): Promise<PeerProcess> {
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "pipe"] });
  const running = observed(child, command);
  let said = "";
  const line = new Promise<string>((resolve) => {
    child.stdout!.on("data", (text) => {
      said += text;
      if (said.includes("\n")) resolve(said);
    });
  });
  const origins: Origins = JSON.parse(await running.unlessItEnds(line));
  return {
    origins,
    signal: (name) => send(child, name),
    async close(): Promise<void> {
      child.stdin!.end();
      await running.ended;
    },
  };
}

/** The way to start a server that gets its ports. */
export interface Daemon<Served> {
  readonly words: readonly string[];
  readonly origins: Served;
}

/**
 * Starts a server that gets its ports, and waits until it accepts connections at each.
 *
 * @param prepare Called again if it does not: another process may have taken a port since it was free.
 */
export async function startDaemon<Served extends object>(
  command: string,
  prepare: () => Promise<Daemon<Served>>,
): Promise<PeerProcess<Served>> {
  for (let tries = 1;; tries++) {
    const child = await startOnce(command, await prepare()).catch((error: Error) => error);
    if (!(child instanceof Error)) return child;
    if (tries === 3) throw child;
  }
}

async function startOnce<Served extends object>(
  command: string,
  { words, origins }: Daemon<Served>,
): Promise<PeerProcess<Served>> {
  const child = spawn(command, words, { stdio: ["ignore", "ignore", "pipe"] });
  const running = observed(child, command);
  const close = async (): Promise<void> => {
    send(child, "SIGTERM");
    await running.ended;
  };
  try {
    for (const origin of Object.values(origins)) {
      await running.unlessItEnds(accepting(Number(new URL(origin).port), child));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { origins, signal: (name) => send(child, name), close };
}

/** Sends a signal without child.kill(), which on Deno does nothing after the first time. */
function send({ pid, exitCode, signalCode }: ChildProcess, name: "SIGHUP" | "SIGUSR1" | "SIGTERM"): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(pid, name);
}

interface Observed {
  readonly ended: Promise<void>;
  unlessItEnds<T>(promise: Promise<T>): Promise<T>;
}

function observed(child: ChildProcess, command: string): Observed {
  let complaint = "";
  child.stderr!.on("data", (text) => complaint += text);
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      complaint += error.message;
      resolve();
    });
    child.once("close", () => resolve());
  });
  return {
    ended,
    unlessItEnds: (promise) =>
      Promise.race([
        promise,
        ended.then((): never => {
          throw new Error(`${command} does not serve: ${complaint}`);
        }),
      ]),
  };
}

async function accepting(port: number, child: ChildProcess): Promise<void> {
  for (const end = Date.now() + PATIENCE; child.exitCode === null && child.signalCode === null;) {
    if (await accepts(port)) return;
    if (Date.now() > end) throw new Error(`nothing accepts connections at port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await new Promise(() => {}); // the end of the process reports the reason
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
