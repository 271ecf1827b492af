import process from "node:process";
import { isMainThread, Worker } from "node:worker_threads";

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
  if (deno === undefined) return true;
  const { permissions } = deno;
  return needs[action].every((permission) => permissions.querySync(permission).state === "granted");
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

/** The environment of workers: on Node the compile cache, which halves their start, and the loader of Plug'n'Play. */
function workerEnvironment(): Record<string, string> {
  if ("Deno" in globalThis) return {}; // it would ask for permission to read the variables, and has no such cache
  const { NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
  return {
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    ...(NODE_OPTIONS && "pnp" in process.versions && { NODE_OPTIONS }),
  };
}

/** A function that does a job of a worker, and posts what comes of it. */
export type WorkerJob<Job, Message> = (job: Job, post: (message: Message) => void) => Promise<void>;

/** The functions of a worker's owner that are called with what it posts, and with what ends it. */
export interface WorkerEvents<Message> {
  message(message: Message): void;
  error(error: Error): void;
}

/** A worker thread that does jobs, or the program's own thread where bundlers left the worker's module out. */
export class JobWorker<Job, Message> {
  readonly #load: () => Promise<WorkerJob<Job, Message>>;
  readonly #events: WorkerEvents<Message>;
  #worker: Worker | undefined;
  /** The jobs that were posted before the worker has shown that it runs. */
  #unproven: Job[] | undefined = [];
  #isStopped = false;

  /** Starts the worker on the module at `address()`; `load` loads its job for this thread. */
  constructor(address: () => URL, load: () => Promise<WorkerJob<Job, Message>>, events: WorkerEvents<Message>) {
    this.#load = load;
    this.#events = events;
    try {
      this.#start(startWorker(address()));
    } catch (error) {
      this.#replace(error as Error); // in a bundle of CommonJS there is no address
    }
  }

  post(job: Job): void {
    this.#unproven?.push(job);
    if (this.#worker === undefined) this.#queue(job);
    else this.#worker.postMessage(job);
  }

  /** Has the worker keep the process alive, or not. */
  set keepsAlive(keepsAlive: boolean) {
    if (keepsAlive) this.#worker?.ref();
    else this.#worker?.unref();
  }

  /** Ends the worker at once; on Deno it may go on for a moment. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#worker?.terminate();
  }

  #start(worker: Worker): void {
    this.#worker = worker;
    worker.on("message", (message: Message) => {
      this.#unproven = undefined;
      this.#events.message(message);
    });
    let hasEnded = false;
    const end = (error: Error): void => {
      if (this.#isStopped || hasEnded) return;
      hasEnded = true;
      if (this.#unproven !== undefined && isMissingModule(error)) this.#replace(error);
      else this.#events.error(error);
    };
    worker.on("error", end);
    worker.on(
      "exit",
      (code) => end(new Error(`it ended with code ${code}, as by process.exit() in a preloaded module`)),
    );
  }

  #replace({ message }: Error): void {
    const jobs = this.#unproven!;
    this.#unproven = undefined;
    this.#worker = undefined;
    warnOfMissingWorker(message);
    for (const job of jobs) this.#queue(job);
  }

  /** Runs a job behind the others of this thread: they share what their module keeps. */
  #queue(job: Job): void {
    lastHere = lastHere.then(() => this.#run(job));
  }

  async #run(job: Job): Promise<void> {
    if (this.#isStopped) return;
    try {
      const run = await this.#load();
      await run(job, (message) => {
        if (!this.#isStopped) this.#events.message(message);
      });
    } catch (error) {
      if (!this.#isStopped) this.#events.error(error as Error);
    }
  }
}

/** The last of the jobs of this thread. */
let lastHere: Promise<void> = Promise.resolve();
let hasWarned = false;

function warnOfMissingWorker(reason: string): void {
  if (hasWarned) return;
  hasWarned = true;
  const [first] = reason.split("\n");
  process.emitWarning(
    `@millrace/streams compresses in this thread, which it blocks: the module of its worker cannot be loaded (${first}). ` +
      "Bundlers leave it out: mark the package as external to have threads",
  );
}

function isMissingModule({ code, message }: Error & { code?: unknown }): boolean {
  return code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND" ||
    /module not found|cannot find module|ModuleNotFound/i.test(message);
}

/**
 * Starts a worker thread on the module at `url`. Deno starts those from files only: others are imported by a data URL.
 * The environment holds what Node needs: Deno would request all of it to copy it, and Deno 2.4 cannot share it.
 */
function startWorker(url: URL): Worker {
  const isFile = url.protocol === "file:";
  const program = `data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(url.href)};`)}`;
  // Node's workers inherit --input-type, and refuse to start with it.
  const isTyped = process.execArgv.some((word) => word.startsWith("--input-type"));
  return new Worker(isFile ? url : new URL(program), { env: workerEnvironment(), ...(isTyped && { execArgv: [] }) });
}
