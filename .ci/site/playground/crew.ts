import type { Done, Given, Task } from "./tasks.ts";

/** Threads at work on a run; the quickest tasks come first, so that there is soon something to see. */
const MOST_THREADS = 4;

/** Callbacks of a run. */
export interface Watcher {
  readonly onDone: (task: Task, done: Done) => void;
  readonly onEnd: (outcome: "done" | "cancelled") => void;
}

/** The workers of one run of tasks. They end with it. */
export class Crew {
  readonly #workers: Worker[];
  readonly #waiting: Iterator<Task>;
  readonly #watcher: Watcher;
  #left: number;

  constructor(script: URL, files: readonly Given[], tasks: readonly Task[], watcher: Watcher) {
    this.#waiting = tasks.values();
    this.#left = tasks.length;
    this.#watcher = watcher;
    const threads = Math.min(MOST_THREADS, Math.max(1, (navigator.hardwareConcurrency ?? 2) - 1), tasks.length);
    this.#workers = Array.from({ length: threads }, () => new Worker(script, { type: "module" }));
    for (const worker of this.#workers) {
      worker.postMessage({ files });
      this.#give(worker);
    }
  }

  /** Ends all work at once. */
  cancel(): void {
    if (this.#left > 0) this.#end("cancelled");
  }

  #give(worker: Worker): void {
    const { value: task, done } = this.#waiting.next();
    if (done) return worker.terminate();
    worker.onmessage = ({ data }: MessageEvent<Done>) => {
      this.#watcher.onDone(task, data);
      if (--this.#left === 0) this.#end("done");
      else this.#give(worker);
    };
    worker.onerror = ({ message }) => {
      this.#watcher.onDone(task, { id: task.id, size: undefined, ms: 0, error: message || "the worker did not load" });
      this.#end("cancelled");
    };
    worker.postMessage({ task });
  }

  #end(outcome: "done" | "cancelled"): void {
    this.#left = 0;
    for (const worker of this.#workers) worker.terminate();
    this.#watcher.onEnd(outcome);
  }
}
