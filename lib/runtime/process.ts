import process from "node:process";
import { Worker } from "node:worker_threads";

/** The part of Deno's own API that is used here. */
interface DenoProcess {
  readonly args: readonly string[];
  permissions: { querySync(permission: Permission): { state: string } };
}

interface Permission {
  readonly name: string;
  readonly kind?: string;
  readonly variable?: string;
}

type Action = "systemFiles" | "hostname" | "signals" | "temporaryFolder";

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
  temporaryFolder: ["TMPDIR", "TMP", "TEMP"].map((variable) => ({ name: "env", variable })),
};

/**
 * Whether the process may do something without a question to its user. Ask this before every action that the user did
 * not ask for: Deno would stop at the terminal and wait for a decision.
 */
export function isPermitted(action: Action): boolean {
  if (deno === undefined) return true;
  const { permissions } = deno;
  return needs[action].every((permission) => permissions.querySync(permission).state === "granted");
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

/**
 * Returns the error codes with which the system refuses to rename or remove a file only while a process has it open, so that another
 * attempt may succeed. Windows has such; elsewhere these codes are final.
 */
export function passingRefusals(): ReadonlySet<string> {
  return process.platform === "win32" ? refusals : none;
}

const refusals: ReadonlySet<string> = new Set(["EACCES", "EBUSY", "EPERM"]);
const none: ReadonlySet<string> = new Set();

/** On Node, the place of the process's compile cache, with which a worker starts in half of the time. */
function compileCache(): Record<string, string> {
  if ("Deno" in globalThis) return {}; // it would ask for permission to read the variable, and has no such cache
  const folder = process.env.NODE_COMPILE_CACHE;
  return folder ? { NODE_COMPILE_CACHE: folder } : {};
}

/**
 * Starts a worker thread on the module at `url`, which uses `parentPort` of `node:worker_threads`.
 *
 * Deno starts such workers from files only; a module from elsewhere (a package imported from JSR has an https URL) is
 * imported by a one-line module in a data URL. The environment is empty but for the compile cache: Deno would ask for all
 * of it to copy it, and Deno 2.4 cannot share it.
 */
export function startWorker(url: URL): Worker {
  const isFile = url.protocol === "file:";
  const program = `data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(url.href)};`)}`;
  return new Worker(isFile ? url : new URL(program), { env: compileCache() });
}
