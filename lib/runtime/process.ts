import { readFileSync } from "node:fs";
import process from "node:process";
import { isMainThread } from "node:worker_threads";

/** The part of Deno's own API that is used here. */
interface DenoProcess {
  readonly args: readonly string[];
  permissions: { querySync(permission: Permission): { state: string } };
}

interface Permission {
  readonly name: string;
  readonly kind?: string;
  readonly variable?: string;
  readonly path?: string;
}

type Action = "systemFiles" | "diskType" | "machine" | "memory" | "signals" | "user" | "workingFolder";

const deno = (globalThis as { Deno?: DenoProcess }).Deno;

/** Returns the arguments of the program; Deno takes 12 ms to load `process`, which has them, too. */
export function commandWords(): readonly string[] {
  return deno?.args ?? process.argv.slice(2);
}

/** Returns an environment variable; undefined if it is not set, or Deno would prompt for it. */
export function environmentVariable(name: string): string | undefined {
  if (deno && deno.permissions.querySync({ name: "env", variable: name }).state !== "granted") return undefined;
  return process.env[name];
}

const everything = ["read", "write", "net", "env", "run", "sys", "ffi", "import"];
/** The permissions that each action requires; system files, such as those in `/proc`, require all permissions. */
const needs: Readonly<Record<Action, readonly Permission[]>> = {
  systemFiles: everything.map((name) => ({ name })),
  machine: ["hostname", "networkInterfaces"].map((kind) => ({ name: "sys", kind })),
  diskType: [{ name: "sys", kind: "statfs" }],
  signals: [{ name: "run" }],
  workingFolder: [{ name: "read", path: "." }],
  memory: [{ name: "sys", kind: "systemMemoryInfo" }],
  user: [{ name: "sys", kind: "uid" }],
};

/** Whether the process is permitted an action without a prompt, at which Deno would stop in a terminal. */
export function isPermitted(action: Action): boolean {
  // In Node's permission model, refused calls throw.
  if (deno === undefined) return action !== "systemFiles" || (process.permission?.has("fs.read", "/proc") ?? true);
  const { permissions } = deno;
  return needs[action].every((permission) => permissions.querySync(permission).state === "granted");
}

/** Whether the process may read a path without a prompt. */
export function mayRead(path: string): boolean {
  return deno === undefined || deno.permissions.querySync({ name: "read", path }).state === "granted";
}

/** Returns the id of the process's effective user; undefined on Windows, or without the permission. */
export function userNumber(): number | undefined {
  return isPermitted("user") ? process.geteuid?.() : undefined;
}

/** Whether the process may give its own files to a group: as a member, or the superuser. */
export function mayGiveTo(group: number): boolean {
  const user = userNumber();
  if (user === 0) return true;
  const groups = user === undefined ? [] : process.getgroups?.() ?? [];
  if (groups.length > 0 || process.platform !== "linux" || !isPermitted("systemFiles")) return groups.includes(group);
  // On Bun and Deno, the list is empty.
  const [words] = /(?<=^Groups:).*/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [""];
  return process.getegid!() === group || words.split(/\s/).includes(String(group));
}

/** Returns the available memory in bytes of the machine or the process's cgroup; 0 without the permission. */
export function availableMemory(): number {
  return isPermitted("memory") ? process.availableMemory() : 0;
}

/**
 * Returns the time in ms since 1970 at which the process started: the earlier one of two measurements, since clocks
 * change and machines sleep. -Infinity in a thread, for which Bun and Deno report only its own start.
 */
export function processStart(): number {
  if (!isMainThread || "WorkerGlobalScope" in globalThis) return -Infinity;
  return Math.min(performance.timeOrigin, Date.now() - process.uptime() * 1000);
}

/** Whether a process with this id runs on this machine; undefined without the permission. */
export function isProcessAlive(id: number): boolean | undefined {
  if (!isPermitted("signals")) return id === process.pid ? true : undefined;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // A refused signal to another user's process proves that the process exists.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Returns the error codes with which Windows refuses to rename or remove an open file; empty on other systems. */
export function passingRefusals(): ReadonlySet<string> {
  return process.platform === "win32" ? refusals : none;
}

const refusals: ReadonlySet<string> = new Set(["EACCES", "EBUSY", "EPERM"]);
const none: ReadonlySet<string> = new Set();
