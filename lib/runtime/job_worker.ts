import process from "node:process";
import { parentPort, Worker } from "node:worker_threads";
import { endsWithin } from "../timers/mod.ts";

/** Returns the environment of workers: on Node the compile cache, which halves their start, and the loader of Plug'n'Play. */
function workerEnvironment(): Record<string, string> {
  if ("Deno" in globalThis) return {}; // Deno would prompt for the variables, and has no such cache
  const { NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env;
  return {
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    ...(NODE_OPTIONS && "pnp" in process.versions && { NODE_OPTIONS }),
  };
}

/** A function that runs a job in a worker; once the signal is aborted, it must close its files and return. */
export type WorkerJob<Job, Message> = (
  job: Job,
  post: (message: Message) => void,
  signal: AbortSignal,
) => Promise<void>;

/** The time in ms that a worker has to end its jobs once it is stopped. */
const END_TIMEOUT = 1000;
/** The message that stops a worker. A worker posts it once it has loaded, and at the end of each job. */
const END = null;

/** Runs the jobs of a worker until its owner stops it; the worker's module calls this once. */
export function serveJobs<Job, Message>(run: WorkerJob<Job, Message>): void {
  const port = parentPort!;
  const jobs = new Map<AbortController, Promise<void>>();
  const stop = async (): Promise<void> => {
    for (const controller of jobs.keys()) controller.abort();
    await Promise.allSettled(jobs.values());
    process.exit();
  };
  port.on("message", (job: Job | typeof END) => {
    if (job === END) return void stop();
    const controller = new AbortController();
    const running = run(job, (message) => port.postMessage(message), controller.signal).then(() => {
      jobs.delete(controller);
      port.postMessage(END);
    });
    jobs.set(controller, running);
  });
  port.postMessage(END);
}

/** The functions of a worker's owner for its messages and its end. */
interface WorkerEvents<Message> {
  message(message: Message): void;
  error(error: Error): void;
}

/** A worker thread that runs jobs, or the program's own thread if the worker does not start: for example, a bundler omitted its module. */
export class JobWorker<Job, Message> {
  readonly #address: () => URL;
  readonly #load: () => Promise<WorkerJob<Job, Message>>;
  readonly #events: WorkerEvents<Message>;
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #jobs = 0;
  /** The controller that aborts jobs in this thread, including the running one. */
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined = undefined;
  /** The jobs that wait until the worker has loaded: before that, it has opened no files. */
  #waiting: Job[] | undefined = undefined;
  #keepsAlive = true;
  /** Whether the next job starts a worker. */
  #isDue = false;
  #isStopped = false;

  /** Starts the worker with the module at `address()`; `load` loads its job for this thread. */
  constructor(address: () => URL, load: () => Promise<WorkerJob<Job, Message>>, events: WorkerEvents<Message>) {
    this.#address = address;
    this.#load = load;
    this.#events = events;
    this.#begin();
  }

  #begin(): void {
    this.#waiting = [];
    this.#isDue = false;
    try {
      this.#start(startWorker(this.#address()));
    } catch (error) {
      this.#replace(error as Error); // a CommonJS bundle has no address
    }
  }

  post(job: Job): void {
    if (this.#isDue) this.#begin();
    if (this.#worker === undefined) this.#queue(job);
    else if (this.#waiting !== undefined) this.#waiting.push(job);
    else this.#give(job);
  }

  #give(job: Job): void {
    this.#jobs++;
    this.#worker!.postMessage(job);
  }

  set keepsAlive(keepsAlive: boolean) {
    this.#keepsAlive = keepsAlive;
    if (keepsAlive) this.#worker?.ref();
    else this.#worker?.unref();
  }

  /** Stops the worker, whose jobs have a second to close their files. No further message is delivered. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopping.abort();
    if (this.#jobs > 0) {
      this.#worker?.postMessage(END);
      await endsWithin(this.#ended, END_TIMEOUT);
    }
    await this.#worker?.terminate();
    await this.#running;
  }

  #start(worker: Worker): void {
    this.#worker = worker;
    this.keepsAlive = this.#keepsAlive;
    this.#ended = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", (message: Message | typeof END) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (this.#isStopped) return;
      if (waiting !== undefined) waiting.forEach((job) => this.#give(job));
      else if (message === END) this.#jobs--;
      else this.#events.message(message);
    });
    let hasEnded = false;
    const end = (error: Error): void => {
      if (this.#isStopped || hasEnded) return;
      hasEnded = true;
      if (this.#waiting !== undefined) this.#replace(error);
      else this.#events.error(error);
    };
    worker.on("error", end);
    worker.on(
      "exit",
      (code) => end(new Error(`it ended with code ${code}, as by process.exit() in a preloaded module`)),
    );
  }

  #replace(error: Error): void {
    const jobs = this.#waiting!;
    this.#waiting = undefined;
    this.#worker = undefined;
    this.#isDue = SHORT.test(error.message);
    if (!hasWarned) {
      process.emitWarning(
        "@millrace/streams compresses in this thread, which it blocks: its worker does not start " +
          `(${error.message.split("\n", 1)[0]})${isMissingModule(error) ? LEFT_OUT : ""}`,
      );
    }
    hasWarned = true;
    for (const job of jobs) this.#queue(job);
  }

  /** Runs a job after the others of this thread, since they share the state of their module. */
  #queue(job: Job): void {
    lastHere = lastHere.then(() => this.#running = this.#run(job));
  }

  async #run(job: Job): Promise<void> {
    if (this.#isStopped) return;
    try {
      const run = await this.#load();
      await run(job, (message) => {
        if (!this.#isStopped) this.#events.message(message);
      }, AbortSignal.any([this.#stopping.signal]));
    } catch (error) {
      if (!this.#isStopped) this.#events.error(error as Error);
    }
  }
}

/** The reasons of failed starts that may pass. */
const SHORT = /\bE(?:MFILE|NFILE|NOMEM|AGAIN)\b/;

const LEFT_OUT = ". Bundlers leave its module out: mark the package as external to have threads";

let lastHere: Promise<void> = Promise.resolve();
let hasWarned = false;

function isMissingModule({ code, message }: Error & { code?: unknown }): boolean {
  return code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND" ||
    /module not found|cannot find module|ModuleNotFound/i.test(message);
}

/**
 * Starts a worker thread with the module at `url`. Deno starts workers only from files: other URLs are imported through
 * a data URL. Only Node gets the environment, since Deno would prompt for all of it, and Deno 2.4 cannot share it.
 */
function startWorker(url: URL): Worker {
  const isFile = url.protocol === "file:";
  const program = `data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(url.href)};`)}`;
  // Node's workers inherit --input-type, with which they cannot start.
  const isTyped = process.execArgv.some((word) => word.startsWith("--input-type"));
  return new Worker(isFile ? url : new URL(program), { env: workerEnvironment(), ...(isTyped && { execArgv: [] }) });
}
