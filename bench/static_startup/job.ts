/**
 * Starts to serve a folder in a fresh process, and says what that took:
 *
 *   job.ts SERVER FOLDER PATH LIMIT VINEXT        LIMIT: of the memory for bodies, in MiB; VINEXT: its module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { starts } from "./starts.ts";

/** The figures of a start; times in ms since the call, memory in MiB above the level before it. */
export interface Startup {
  /** The time until it accepts requests. */
  readonly created: number;
  /** The time until the first request has its response. */
  readonly answered: number;
  /** The time until everything kept in memory is loaded. */
  readonly loaded: number;
  /** CPU time of the process, all threads together, until then. */
  readonly cpu: number;
  /** Resident, when all is there. */
  readonly memory: number;
  /** The part of the memory that is not the runtime's own program. */
  readonly anonymous: number;
  /** The bodies that are in memory. */
  readonly bodies: number;
}

const MEBIBYTE = 2 ** 20;
const [name, folder, path, limit, vinext] = process.argv.slice(2);

/** Returns resident and anonymous memory in MiB; the latter is 0 without `/proc`. */
function memory(): { resident: number; anonymous: number } {
  const resident = process.memoryUsage().rss / MEBIBYTE;
  try {
    const text = readFileSync("/proc/self/smaps_rollup", "utf8");
    return { resident, anonymous: Number(/^Anonymous:\s+(\d+)/m.exec(text)![1]) / 1024 };
  } catch {
    return { resident, anonymous: 0 };
  }
}

/** Waits until `bodies` has not grown for a while; resolves to when it last did. */
async function settled(bodies: () => number): Promise<number> {
  let last = performance.now();
  let [size, cpu] = [-1, process.cpuUsage()];
  while (performance.now() - last < 500) {
    if (bodies() !== size) [size, last, cpu] = [bodies(), performance.now(), process.cpuUsage()];
    await setTimeout(2);
  }
  lastCPU = cpu;
  return last;
}

let lastCPU = process.cpuUsage();
const start = await starts[name]({ folder, limit: Number(limit) * MEBIBYTE, vinext });
// Loads the runtime's own classes, as the first request of any server does.
await new Response(new Uint8Array(1), { headers: new Request("http://localhost/").headers }).arrayBuffer();
const before = memory();
const cpuBefore = process.cpuUsage();
const begin = performance.now();
const server = await start();
const created = performance.now() - begin;
const status = await server.ask(path);
if (status !== 200) throw new TypeError(`${name} answers ${path} with ${status}`);
const answered = performance.now() - begin;
const loaded = await settled(server.bodies) - begin;
const after = memory();
const result: Startup = {
  created,
  answered,
  loaded: Math.max(loaded, answered),
  cpu: (lastCPU.user + lastCPU.system - cpuBefore.user - cpuBefore.system) / 1000,
  memory: after.resident - before.resident,
  anonymous: after.anonymous - before.anonymous,
  bodies: server.bodies() / MEBIBYTE,
};
console.log(JSON.stringify(result));
process.exit();
