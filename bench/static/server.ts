/**
 * Serves a folder by the server that is its first argument. Says its port, then the CPU time it has taken for every
 * line it reads.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";

/** Functions by name that serve a folder, and resolve to the port. */
export type Servers = Readonly<Record<string, (folder: string) => Promise<number>>>;

/** The first answer. */
export interface Listening {
  readonly port: number;
}

/** Every other answer, in microseconds since the process began. */
export interface CpuTime {
  readonly cpu: number;
}

async function serversHere(): Promise<Servers> {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  if (bun) return (await import("./fetch_servers.ts")).bunServers;
  if (deno) return (await import("./fetch_servers.ts")).denoServers;
  return (await import("./node_servers.ts")).nodeServers;
}

function say(line: Listening | CpuTime | Failure): void {
  console.log(JSON.stringify(line));
}

const [name, folder] = process.argv.slice(2);
try {
  say({ port: await (await serversHere())[name](folder) });
} catch (error) {
  say({ failure: String(error).split("\n")[0] });
}
for await (const _ of createInterface({ input: process.stdin })) {
  const { user, system } = process.cpuUsage();
  say({ cpu: user + system });
}
process.exit();
