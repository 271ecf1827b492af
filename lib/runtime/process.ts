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

type Action = "systemFiles" | "hostname" | "memory" | "signals" | "user" | "workingFolder";

const deno = (globalThis as { Deno?: DenoProcess }).Deno;

/** Returns the words of the command line behind the program's name; Deno takes 12 ms to load `process`, which has them too. */
export function commandWords(): readonly string[] {
  return deno?.args ?? process.argv.slice(2);
}

/** The value of an environment variable; undefined if it is not set, or Deno would ask its user before it is read. */
export function environmentVariable(name: string): string | undefined {
  if (deno && deno.permissions.querySync({ name: "env", variable: name }).state !== "granted") return undefined;
  return process.env[name];
}

const everything = ["read", "write", "net", "env", "run", "sys", "ffi", "import"];
/** The permissions that each action takes; files of the system, such as those in `/proc`, take all that there are. */
const needs: Readonly<Record<Action, readonly Permission[]>> = {
  systemFiles: everything.map((name) => ({ name })),
  hostname: [{ name: "sys", kind: "hostname" }],
  signals: [{ name: "run" }],
  workingFolder: [{ name: "read", path: "." }],
  memory: [{ name: "sys", kind: "systemMemoryInfo" }],
  user: [{ name: "sys", kind: "uid" }],
};

/** Whether the process may do something without a question to its user, for which Deno would stop at the terminal. */
export function isPermitted(action: Action): boolean {
  // Node's model of permissions has calls that ask for more throw.
  if (deno === undefined) return action !== "systemFiles" || (process.permission?.has("fs.read", "/proc") ?? true);
  const { permissions } = deno;
  return needs[action].every((permission) => permissions.querySync(permission).state === "granted");
}

/** Whether the process may read what has a path, without a question to its user. */
export function mayRead(path: string): boolean {
  return deno === undefined || deno.permissions.querySync({ name: "read", path }).state === "granted";
}

/** The number of the user whose rights the process has; undefined on Windows, or if this process may not know. */
export function userNumber(): number | undefined {
  return isPermitted("user") ? process.geteuid?.() : undefined;
}

/** Returns how many bytes the machine, or the process's cgroup, has to give; 0 if this process may not know. */
export function availableMemory(): number {
  return isPermitted("memory") ? process.availableMemory() : 0;
}

/**
 * Returns when the process began, in ms since 1970: the earlier time of two, since clocks change and machines sleep.
 * -Infinity in a thread, of which Bun and Deno report only its own beginning.
 */
export function processStart(): number {
  if (!isMainThread || "WorkerGlobalScope" in globalThis) return -Infinity;
  return Math.min(performance.timeOrigin, Date.now() - process.uptime() * 1000);
}

/** Whether a process with this id runs on this machine; undefined if this process may not know. */
export function isProcessAlive(id: number): boolean | undefined {
  if (!isPermitted("signals")) return id === process.pid ? true : undefined;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // Signalling another user's process is refused, which proves that it is there.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Returns the error codes by which Windows refuses to rename or remove a file only while it is open; else none. */
export function passingRefusals(): ReadonlySet<string> {
  return process.platform === "win32" ? refusals : none;
}

const refusals: ReadonlySet<string> = new Set(["EACCES", "EBUSY", "EPERM"]);
const none: ReadonlySet<string> = new Set();
