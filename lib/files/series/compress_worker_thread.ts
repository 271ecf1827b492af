import type { Worker } from "node:worker_threads";
import { startWorker } from "../../runtime/mod.ts";
import type { CompressJob, CompressOutcome } from "./compress_job.ts";
import { compressWorkerAddress } from "./compress_worker_address.ts";

/** A thread that compresses one file after the other. It keeps the process running only while it compresses. */
export class CompressWorkerThread {
  #worker: Worker | undefined = undefined;
  #settle: ((outcome: CompressOutcome) => void) | undefined = undefined;

  /** Compresses a file; one call at a time. */
  run(job: CompressJob): Promise<CompressOutcome> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(job);
    });
  }

  /** Ends the thread; what it is doing counts as failed. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#settle?.({ message: "it was stopped" });
  }

  #start(): Worker {
    const worker = startWorker(compressWorkerAddress());
    worker.on("message", (outcome: CompressOutcome) => {
      worker.unref();
      this.#settle?.(outcome);
    });
    worker.on("error", (error: Error) => {
      this.#worker = undefined;
      this.#settle?.({ message: `its worker stopped: ${error.message}` });
    });
    return worker;
  }
}
