import { closeSync, openSync } from "node:fs";
import { removeTemporary } from "../files/internal.ts";
import { availableMemory, JobWorker } from "../runtime/mod.ts";
import { LARGE_FILE } from "./content.ts";
import type { Advance, Job, Outcome } from "./job.ts";
import { codecOf, type DeltaFormat, type VariantFormat } from "./formats.ts";
import type { PrecompressProgress } from "./options.ts";
import { explain } from "./problem.ts";
import { workerAddress } from "./worker_address.ts";

/** The time for each byte by format at its default level, relative to 10 for gzip 12. Whole numbers add up exactly. */
const COST: Readonly<Record<VariantFormat | "dcb" | "dcz", number>> = {
  brotli: 40,
  dcb: 50,
  zstd: 12,
  dcz: 15,
  gzip: 10,
};
/** The minimum time in ms between two reports. */
const INTERVAL = 50;

/** Adds up the work of variants, and reports progress. */
export class ProgressMeter {
  #report: ((progress: PrecompressProgress) => void) | undefined;
  #started = performance.now();
  #reported = -Infinity;
  #bytes = { done: 0, total: 0 };
  #cost = { done: 0, total: 0 };

  constructor(report: ((progress: PrecompressProgress) => void) | undefined) {
    this.#report = report;
  }

  /** Adds a variant of a file of `size` bytes to the expected work. */
  expect(format: VariantFormat | DeltaFormat, size: number): void {
    this.#bytes.total += size;
    this.#cost.total += size * COST[codecOf(format)];
    this.#tell();
  }

  /** Counts `bytes` of a variant's file as done. */
  advance(format: VariantFormat | DeltaFormat, bytes: number): void {
    this.#bytes.done += bytes;
    this.#cost.done += bytes * COST[codecOf(format)];
    this.#tell();
  }

  #tell(): void {
    const now = performance.now();
    const complete = this.#cost.done === this.#cost.total;
    if (!this.#report || (!complete && now - this.#reported < INTERVAL)) return;
    this.#reported = now;
    const fraction = this.#cost.total === 0 ? 1 : this.#cost.done / this.#cost.total;
    this.#report({
      bytesDone: this.#bytes.done,
      bytesTotal: this.#bytes.total,
      fraction,
      remainingMs: fraction > 0 ? (now - this.#started) * (1 / fraction - 1) : undefined,
    });
  }
}

/** The minimum memory for running jobs together, in bytes, on any machine; a job that needs more runs alone. */
const MIN_MEMORY = 224 * 2 ** 20;
/** The memory in bytes above which a worker is replaced, since WASM memory never shrinks. */
const REPLACED = 80 * 2 ** 20;
/** The bytes that are compressed while a worker loads: for fewer bytes, a worker costs more than it saves. */
const WORTH = 128 * 2 ** 10;

/** Returns the number of workers worth starting for `jobs` jobs with `bytes` bytes in total. */
export function workersFor(jobs: number, bytes: number): number {
  return Math.min(jobs, 1 + Math.floor(bytes / WORTH));
}

const MIB = 2 ** 20;
/** The memory of a worker in MiB, without that of its job. */
const THREAD = 27;
/**
 * The measured memory of codecs in MiB. An entry applies to levels below its first number. Its lines have a height, and
 * a slope for each MiB of the file; the lowest line counts.
 */
const NEEDS: Readonly<Record<VariantFormat, readonly (readonly [number, ...(readonly [number, number])[]])[]>> = {
  brotli: [[6, [3, 8]], [10, [30, 8]], [12, [10, 44], [30, 12]]],
  zstd: [[10, [4, 10], [12, 3]], [20, [4, 17], [120, 0]], [23, [4, 20], [200, 0]]],
  gzip: [[10, [2, 4]], [13, [4, 10], [12, 3]]],
};

/** Returns the approximate memory of a job in bytes: the worker's, the codec's, and the file's if it is read whole. */
export function memoryOf({ format, level, size }: Pick<Job, "format" | "level" | "size">): number {
  const codec = codecOf(format);
  const plain = codec === "dcb" ? "brotli" : codec === "dcz" ? "zstd" : codec;
  const length = Math.min(size, LARGE_FILE) / MIB;
  const [, ...lines] = NEEDS[plain].find(([below]) => level < below)!;
  const needed = lines.reduce((least, [height, slope]) => Math.min(least, height + slope * length), Infinity);
  // A dictionary is about as large as its file, and is also in memory twice.
  const held = size > LARGE_FILE ? 0 : codec === plain ? length : 3 * length;
  return (THREAD + needed + held) * MIB;
}

/** Returns the default memory for running jobs together: half of `available`, in bytes. */
export function budgetOf(available: number): number {
  return Math.max(MIN_MEMORY, available / 2);
}

/** Returns the index of the job to start next: the longest of those that fit into `room` bytes of memory. */
export function nextOf(jobs: readonly Pick<Job, "format" | "level" | "size">[], room: number): number {
  let next = -1;
  let most = -1;
  for (const [i, job] of jobs.entries()) {
    const cost = job.size * COST[codecOf(job.format)];
    if (cost > most && memoryOf(job) <= room) [next, most] = [i, cost];
  }
  return next;
}

interface Waiting {
  readonly job: Job;
  readonly advance: (bytes: number) => void;
  readonly settle: (outcome: Outcome) => void;
  readonly fail: (reason: unknown) => void;
}

interface Slot {
  worker: JobWorker<Job, Advance | Outcome> | undefined;
  current: Waiting | undefined;
}

/** Runs jobs in worker threads, the longest first as far as memory allows. */
export class Pool {
  #slots: Slot[];
  #waiting: Waiting[] = [];
  #memory = 0;
  /** The memory that running jobs may need together. */
  readonly #budget: number;
  #open = 1;
  #stopped: { reason: unknown } | undefined;

  /** Creates a pool of at most `size` workers, some of which {@linkcode prepare} or the first jobs start. */
  constructor(size: number, memory: number = budgetOf(availableMemory())) {
    this.#budget = memory;
    this.#slots = Array.from({ length: size }, () => ({ worker: undefined, current: undefined }));
  }

  /** Starts the workers for `jobs` jobs with `bytes` bytes in total, so that they load during the search for files. */
  prepare(jobs: number, bytes: number): void {
    if (this.#stopped || jobs === 0) return;
    this.#open = Math.max(this.#open, workersFor(jobs, bytes));
    for (const slot of this.#slots.slice(0, this.#open)) slot.worker ??= this.#hire(slot);
  }

  /** Runs `job` in a worker, and calls `advance` with its progress; rejects only if the pool is stopped. */
  run(job: Job, advance: (bytes: number) => void): Promise<Outcome> {
    return new Promise((settle, fail) => {
      if (this.#stopped) return fail(this.#stopped.reason);
      this.#waiting.push({ job, advance, settle, fail });
      this.#dispatch();
    });
  }

  /** Ends all workers, removes their unfinished files, and rejects the other jobs with `reason`. */
  async stop(reason: unknown): Promise<void> {
    this.#stopped ??= { reason };
    const unfinished = [...this.#slots.flatMap(({ current }) => current ?? []), ...this.#waiting.splice(0)];
    await Promise.all(this.#slots.map(({ worker }) => worker?.stop()));
    await Promise.all(unfinished.map(({ job }) => removeTemporary(job.temporary)));
    for (const { fail } of unfinished) fail(reason);
    for (const slot of this.#slots) slot.worker = slot.current = undefined;
  }

  #dispatch(): void {
    if (this.#stopped) return;
    for (const slot of this.#slots.slice(0, this.#open)) {
      if (slot.current) continue;
      const room = this.#memory === 0 ? Infinity : this.#budget - this.#memory;
      const next = nextOf(this.#waiting.map(({ job }) => job), room);
      if (next < 0) return;
      const [waiting] = this.#waiting.splice(next, 1);
      this.#start(slot, waiting!);
    }
  }

  #start(slot: Slot, waiting: Waiting): void {
    slot.current = waiting;
    this.#memory += memoryOf(waiting.job);
    try {
      // Synchronous, so that a stop of the pool finds the file; the worker opens it again.
      closeSync(openSync(waiting.job.temporary, "wx", waiting.job.mode | 0o600));
    } catch (error) {
      const outcome: Outcome = { state: "failed", message: explain(error), isCached: false, elapsedMs: 0 };
      return queueMicrotask(() => this.#finish(slot, outcome)); // finishing must wait while jobs are being started
    }
    slot.worker ??= this.#hire(slot);
    slot.worker.post(waiting.job);
  }

  #hire(slot: Slot): JobWorker<Job, Advance | Outcome> {
    return new JobWorker(workerAddress, async () => (await import("./execute.ts")).runJob, {
      message: (message) => {
        if ("bytes" in message) slot.current?.advance(message.bytes);
        else this.#end(slot, message);
      },
      error: (error) => {
        slot.worker = undefined;
        if (this.#stopped) return;
        const message = `its worker stopped: ${error.message}`;
        this.#end(slot, { state: "failed", message, isCached: false, elapsedMs: 0 });
      },
    });
  }

  async #end(slot: Slot, outcome: Outcome): Promise<void> {
    if (!slot.current) return;
    const isComplete = outcome.state !== "failed" && outcome.size !== undefined;
    if (!isComplete) await removeTemporary(slot.current.job.temporary);
    this.#finish(slot, outcome);
  }

  #finish(slot: Slot, outcome: Outcome): void {
    if (!slot.current) return; // the job was stopped meanwhile
    const { job, settle } = slot.current;
    const memory = memoryOf(job);
    this.#memory -= memory;
    slot.current = undefined;
    if (memory > REPLACED && !outcome.isCached) {
      void slot.worker?.stop();
      slot.worker = undefined;
    }
    settle(outcome);
    this.#dispatch();
  }
}
