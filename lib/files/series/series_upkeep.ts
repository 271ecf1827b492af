import type { BigIntStats } from "node:fs";
import { basename, join } from "node:path";
import { JobWorker } from "../../runtime/mod.ts";
import { removeIfSame } from "../created_file.ts";
import { failing, fileFailure, warn } from "../failure.ts";
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

/** A thread that compresses one file after the other. It keeps the process running only while it compresses. */
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

  /** Ends the thread; what it is doing counts as failed. */
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

/** The time for which compressions of files may begin once the stream closes, in ms. */
const MAX_START_DELAY = 1000;

/** The one file of an entry that is left when nothing is being compressed. */
function sizeOf({ file, packed, isPacked }: SeriesEntry): number {
  return isPacked ? packed!.size : file.size!;
}

/**
 * Removes and compresses the files of a series that are due, one after the other, beside the writing: nothing that its
 * record does not prove.
 *
 * A file is compressed whole or not at all: into a temporary file, which is recorded, flushed and renamed before the file
 * itself is removed. Whatever step a killed process has come to, the next one goes on there.
 */
export class SeriesUpkeep {
  readonly #series: FileSeries;
  readonly #record: SeriesRecord;
  readonly #current: CurrentFile;
  readonly #options: ContinuedSettings;
  readonly #thread = new CompressWorkerThread();
  #underWay: Promise<void> = Promise.resolve();
  /** Whether the files are to be looked at again when that has ended. */
  #isDue = false;
  #isOver = false;
  #isStopped = false;
  /** Whether what killed processes left was removed, as far as they noted it nowhere. */
  #isSwept = false;
  /** Steps for files that have failed, of which each is warned of once. */
  readonly #failed = new Set<string>();
  /** The first failure of a look that is not one of those. */
  #failure: unknown = undefined;
  /** The time after which the compression of another file does not begin any more, in ms since the process began. */
  #lastBegin = Infinity;

  /** `options.onWarning` is called with files that could not be removed or compressed: they stay until the next look. */
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

  /** Looks at the files, once those that are being seen to are done. */
  look(): void {
    if (this.#isDue || this.#isOver) return;
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
      if (failure !== undefined && !this.#isOver) warn(this.#options.onWarning, failure as Error);
    });
  }

  /** Waits until nothing is due, or the file is compressed that is so after a second: the next stream goes on there. */
  async idle(): Promise<void> {
    this.#lastBegin = performance.now() + MAX_START_DELAY;
    await this.#underWay;
  }

  /** Looks no more, and warns of nothing: the series is being given up. */
  giveUp(): void {
    this.#isOver = true;
  }

  /** Ends a compression that is under way, which leaves its file as it is. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#thread.stop();
    await this.#underWay;
  }

  /** Takes a step. One that fails is taken again at the next look, and keeps no other from being taken. */
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

  /** Removes the oldest files as far as they pass the limits, in which one that cannot be removed has no part. */
  async #removePastLimits(): Promise<void> {
    const { maxFiles, maxTotalSize, maxAge } = this.#options;
    if (maxFiles === Infinity && maxTotalSize === Infinity && maxAge === Infinity) return;
    const complete = this.complete;
    let files = complete.length + (this.#current.number > 0 ? 1 : 0); // the next one begins with another look
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

  async #remove({ number, file, packed, temporary }: SeriesEntry): Promise<void> {
    if (temporary !== undefined) await requireRemoved(this.#pathOfTemporary(temporary)); // of a process that was killed
    const plain = this.#series.pathOf(number);
    if (packed !== undefined) await removeProven(`${plain}.${packed.extension}`, packed);
    await removeProven(plain, file);
    this.#record.forget(number);
  }

  /** Compresses all files that are complete and are not yet; without a format, brings to its end what others began. */
  async #compressAll(): Promise<void> {
    for (const entry of this.complete) {
      if (this.#isStopped || performance.now() > this.#lastBegin) return;
      await this.#attempt(`compress ${entry.number}`, () => this.#compressIfDue(entry));
    }
  }

  async #compressIfDue(entry: SeriesEntry): Promise<void> {
    const format = this.#options.compress;
    if (entry.isPacked || entry.packed !== undefined && await this.#complete(entry, entry.packed)) return;
    if (entry.temporary !== undefined) await requireRemoved(this.#pathOfTemporary(entry.temporary));
    if (format !== undefined && !entry.isRaw) await this.#compress(entry, format);
  }

  async #compress(entry: SeriesEntry, format: SeriesFormat): Promise<void> {
    const record = this.#record;
    const { number } = entry;
    const source = this.#series.pathOf(number);
    const status = provenFile(source, entry.file);
    if (status === undefined) return record.forget(number); // removed or changed: no longer what the series wrote
    const temporary = temporaryPath(source);
    record.note(number, { temporary: basename(temporary) });
    const { extension, level } = packedFormats.find((each) => each.format === format)!;
    const known = (path: string, { dev, ino }: BigIntStats) => ({ path, dev, ino });
    let packed: NonNullable<SeriesEntry["packed"]>;
    try {
      const file = OpenFile.openNow(temporary, "wx", { mode: 0o600 });
      try {
        const outcome = await this.#thread.run({
          source: known(source, status),
          temporary: known(temporary, file.exactStatus()), // which the worker opens again
          format,
          level,
          mtimeMs: Number(status.mtimeNs) / 1e6,
        });
        if (outcome.message !== undefined) throw Object.assign(new Error(outcome.message), outcome);
        await keepAttributes(file, provenFile(source, entry.file) ?? status); // may take the right to write to it
        await file.sync();
        packed = { ...proofOfComplete(file.exactStatus()), extension };
      } finally {
        await file.close();
      }
      record.note(number, { packed });
      await this.#complete({ ...entry, temporary: basename(temporary) }, packed);
    } catch (error) {
      await removeTemporary(temporary);
      if (!this.#isStopped) throw fileFailure("compress", source, error);
    }
  }

  /** Gives the compressed form its name, and removes the file; false if there is none any more. */
  async #complete(entry: SeriesEntry, packed: NonNullable<SeriesEntry["packed"]>): Promise<boolean> {
    if (entry.temporary === undefined) return false;
    const record = this.#record;
    const plain = this.#series.pathOf(entry.number);
    const target = `${plain}.${packed.extension}`;
    const temporary = this.#pathOfTemporary(entry.temporary);
    if (provenFile(target, packed) === undefined) {
      if (provenFile(temporary, packed) === undefined) return false;
      try {
        await takeName(temporary, target, { replace: false, atOnce: false });
      } catch (error) {
        if ((error as { code?: unknown }).code !== "EEXIST") throw error;
        await removeTemporary(temporary);
        record.noteIfPossible(entry.number, { isRaw: true }); // another program's file has the name: it stays
        return true;
      }
    }
    await removeTemporary(temporary); // a second name of the same file, if the process was killed between
    await flushFolder(this.#series.directory);
    await removeProven(plain, entry.file);
    record.noteIfPossible(entry.number, { isPacked: true });
    return true;
  }

  #pathOfTemporary(name: string): string {
    return join(this.#series.directory, name);
  }
}

/** Removes a temporary file that the record of a series names. */
async function requireRemoved(temporary: string): Promise<void> {
  if (!await removeTemporary(temporary)) throw new Error(`Cannot remove ${temporary}: it is no file, or is kept open`);
}

/** Removes a file if it is the one of a proof; otherwise it is gone, or another file by now. */
async function removeProven(path: string, proof: FileProof): Promise<void> {
  const status = provenFile(path, proof);
  if (status === undefined) return;
  await removeIfSame(path, status).catch(failing("remove", path));
}
