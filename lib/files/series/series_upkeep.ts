import type { BigIntStats } from "node:fs";
import { JobWorker } from "../../runtime/mod.ts";
import { removeIfSame } from "../created_file.ts";
import { codeOf, failing, fileFailure, warn } from "../failure.ts";
import { flushFolder } from "../flush.ts";
import { OpenFile } from "../open_file.ts";
import { keepAttributes, takeName } from "../place.ts";
import { removeAbandonedTemporaries, removeTemporary, temporaryPath } from "../temporary.ts";
import type { CompressJob, CompressOutcome } from "./compress_job.ts";
import { compressWorkerAddress } from "./compress_worker_address.ts";
import type { CurrentFile } from "./current_file.ts";
import { type FileSeries, packedFormats, type SeriesFormat } from "./file_series.ts";
import type { ContinuedSettings } from "./rotation_options.ts";
import { type FileProof, proofOfComplete, provenFile, type SeriesEntry, type SeriesRecord } from "./series_record.ts";

/** A thread that compresses files one after the other. It keeps the process alive only while it compresses. */
class CompressWorkerThread {
  #worker: JobWorker<CompressJob, CompressOutcome> | undefined = undefined;
  #settle: ((outcome: CompressOutcome) => void) | undefined = undefined;

  run(job: CompressJob): Promise<CompressOutcome> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#worker ??= this.#start();
      this.#worker.keepsAlive = true;
      this.#worker.post(job);
    });
  }

  /** Ends the thread; its current job counts as failed. */
  stop(): void {
    const settle = (): void => this.#settle?.({ message: "it was stopped" });
    void Promise.resolve(this.#worker?.stop()).then(settle, settle);
    this.#worker = undefined;
  }

  #start(): JobWorker<CompressJob, CompressOutcome> {
    const load = async () => (await import("./compress_job.ts")).runCompressJob;
    const worker = new JobWorker<CompressJob, CompressOutcome>(compressWorkerAddress, load, {
      message: (outcome) => {
        worker.keepsAlive = false;
        this.#settle?.(outcome);
      },
      error: (error) => {
        this.#worker = undefined;
        this.#settle?.({ message: `its worker stopped: ${error.message}` });
      },
    });
    return worker;
  }
}

/** The time in ms after the stream's close during which further compressions may begin. */
const MAX_START_DELAY = 1000;

/** Returns the size of an entry's only file while no compression runs. */
function sizeOf({ file, packed, isPacked }: SeriesEntry): number {
  return isPacked ? packed!.size : file.size!;
}

/**
 * Removes and compresses the files of a series that are due, one after the other, in parallel with writes; only files
 * that its record proves.
 *
 * A file is compressed completely or not at all: into a temporary file, which is flushed, recorded and renamed before
 * the file itself is removed. After a kill, the next stream removes the file, or compresses it again.
 */
export class SeriesUpkeep {
  readonly #series: FileSeries;
  readonly #record: SeriesRecord;
  readonly #current: CurrentFile;
  readonly #options: ContinuedSettings;
  readonly #thread = new CompressWorkerThread();
  #underWay: Promise<void> = Promise.resolve();
  /** Whether the files are to be checked again after that. */
  #isDue = false;
  #isStopped = false;
  /** Whether files of killed processes that no record contains were removed. */
  #isSwept = false;
  /** The failed steps for files, each of which causes one warning. */
  readonly #failed = new Set<string>();
  /** The first failure of a check that is not one of those steps. */
  #failure: unknown = undefined;
  /** The time after which no further compression begins, in ms since the process started. */
  #lastBegin = Infinity;

  /** `options.onWarning` is called with files that could not be removed or compressed: the next check retries them. */
  constructor(series: FileSeries, record: SeriesRecord, current: CurrentFile, options: ContinuedSettings) {
    this.#series = series;
    this.#record = record;
    this.#current = current;
    this.#options = options;
  }

  get complete(): SeriesEntry[] {
    return this.#record.entries.filter(({ number, file }) =>
      number !== this.#current.number && file?.size !== undefined
    );
  }

  /** Checks the files, once the current check has ended. */
  look(): void {
    if (this.#isDue || this.#isStopped) return;
    this.#isDue = true;
    this.#underWay = this.#underWay.then(async () => {
      this.#isDue = false;
      await this.#removePastLimits();
      await this.#compressAll();
      await this.#removePastLimits();
      if (!this.#isSwept) await this.#attempt("sweep", () => removeAbandonedTemporaries(this.#series.directory));
      this.#isSwept = true;
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure !== undefined && !this.#isStopped) warn(this.#options.onWarning, failure as Error);
    });
  }

  /** Waits until no file is due, or for the compression that is running after a second: the next stream continues there. */
  async idle(): Promise<void> {
    this.#lastBegin = performance.now() + MAX_START_DELAY;
    await this.#underWay;
  }

  /** Stops checks and warnings, and a running compression, which leaves its file unchanged. */
  async stop(): Promise<void> {
    if (!this.#isStopped) this.#thread.stop();
    this.#isStopped = true;
    await this.#underWay;
  }

  /** Runs a step. A failed one is repeated at the next check, and does not prevent others. */
  async #attempt(step: string, take: () => Promise<unknown>): Promise<void> {
    try {
      await take();
      this.#failed.delete(step);
    } catch (error) {
      if (this.#failure !== undefined || this.#failed.has(step)) return;
      this.#failed.add(step);
      this.#failure = error;
    }
  }

  /** Removes the oldest files beyond the limits, which ignore files that cannot be removed. */
  async #removePastLimits(): Promise<void> {
    const { maxFiles, maxTotalSize, maxAge } = this.#options;
    if (maxFiles === Infinity && maxTotalSize === Infinity && maxAge === Infinity) return;
    const complete = this.complete;
    let files = complete.length + (this.#current.number > 0 ? 1 : 0); // the next file triggers another check
    let size = this.#current.size;
    for (const entry of complete) size += sizeOf(entry);
    for (const entry of complete) {
      const age = Date.now() - entry.file.mtime!;
      if (files <= maxFiles && size <= maxTotalSize && age <= maxAge) return;
      await this.#attempt(`remove ${entry.number}`, () => this.#remove(entry));
      files--;
      size -= sizeOf(entry);
    }
  }

  async #remove({ number, file, packed }: SeriesEntry): Promise<void> {
    const plain = this.#series.pathOf(number);
    if (packed !== undefined) await removeProven(`${plain}.${packed.extension}`, packed);
    await removeProven(plain, file);
    await this.#record.unblocked(() => this.#record.forget(number));
  }

  /** Compresses all complete files; without a format, completes what other streams began. */
  async #compressAll(): Promise<void> {
    if (this.#options.compress === undefined && !this.#record.hasBegun) return;
    for (const entry of this.complete) {
      if (entry.isPacked) continue;
      if (this.#isStopped || performance.now() > this.#lastBegin) return;
      await this.#attempt(`compress ${entry.number}`, () => this.#compressIfDue(entry));
    }
  }

  async #compressIfDue(entry: SeriesEntry): Promise<void> {
    const format = this.#options.compress;
    if (entry.packed !== undefined && await this.#isReplaced(entry, entry.packed)) return;
    if (format !== undefined && !entry.isRaw) await this.#compress(entry, format);
  }

  async #compress(entry: SeriesEntry, format: SeriesFormat): Promise<void> {
    const record = this.#record;
    const { number } = entry;
    const source = this.#series.pathOf(number);
    const status = provenFile(source, entry.file);
    if (status === undefined) return record.forget(number); // removed or changed: no longer as the series wrote it
    const temporary = temporaryPath(source);
    const { extension, level } = packedFormats.find((each) => each.format === format)!;
    const known = (path: string, { dev, ino }: BigIntStats) => ({ path, dev, ino });
    let packed: NonNullable<SeriesEntry["packed"]>;
    try {
      const file = OpenFile.openNow(temporary, "wx", { mode: 0o600 });
      try {
        const outcome = await this.#thread.run({
          source: known(source, status),
          temporary: known(temporary, file.exactStatus()), // the worker opens it again
          format,
          level,
          mtimeMs: Number(status.mtimeNs) / 1e6,
        });
        if (outcome.message !== undefined) throw Object.assign(new Error(outcome.message), outcome);
        // May remove the permission to write to it.
        keepAttributes(file, provenFile(source, entry.file) ?? status);
        await file.sync();
        packed = { ...proofOfComplete(file.exactStatus()), extension };
      } finally {
        await file.close();
      }
      await record.unblocked(() => record.note(number, { packed }));
      await takeName(temporary, `${source}.${extension}`, { replace: false, isLocked: true, atOnce: false });
      await this.#isReplaced(entry, packed);
    } catch (error) {
      await removeTemporary(temporary);
      // Another program's file has the name, and stays.
      if (codeOf(error) === "EEXIST") return record.noteIfPossible(number, { isRaw: true });
      if (!this.#isStopped) throw fileFailure("compress", source, error);
    }
  }

  /** Removes a file whose compressed form has its final name; returns whether that form exists. */
  async #isReplaced({ number, file }: SeriesEntry, packed: NonNullable<SeriesEntry["packed"]>): Promise<boolean> {
    const plain = this.#series.pathOf(number);
    if (provenFile(`${plain}.${packed.extension}`, packed) === undefined) return false;
    await flushFolder(this.#series.directory);
    await removeProven(plain, file);
    await this.#record.unblocked(() => this.#record.noteIfPossible(number, { isPacked: true }));
    return true;
  }
}

/** Removes a file if the proof is of that file; otherwise it was removed or replaced. */
async function removeProven(path: string, proof: FileProof): Promise<void> {
  const status = provenFile(path, proof);
  if (status === undefined) return;
  await removeIfSame(path, status).catch(failing("remove", path));
}
