import { closeSync, lstatSync, openSync } from "node:fs";
import { basename, join } from "node:path";
import { JobWorker } from "../../runtime/mod.ts";
import { removeIfSame } from "../created_file.ts";
import { failing, fileFailure } from "../failure.ts";
import { flushFolder, takeName } from "../place.ts";
import { removeTemporary, temporaryPath } from "../temporary.ts";
import { compressWorkerAddress } from "./compress_worker_address.ts";
import type { CompressJob, CompressOutcome } from "./compress_job.ts";
import type { SeriesFormat } from "./rotation_options.ts";
import type { FileSeries } from "./file_series.ts";
import { type FileProof, proofOfComplete, provenFile, type SeriesEntry, type SeriesRecord } from "./series_record.ts";

/** A thread that compresses one file after the other. It keeps the process running only while it compresses. */
export class CompressWorkerThread {
  #worker: JobWorker<CompressJob, CompressOutcome> | undefined = undefined;
  #settle: ((outcome: CompressOutcome) => void) | undefined = undefined;

  /** Compresses a file; one call at a time. */
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
    void this.#worker?.stop();
    this.#worker = undefined;
    this.#settle?.({ message: "it was stopped" });
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

/** The formats: the extension of their files, and a level that keeps up with a fast log. */
const formats: Readonly<Record<SeriesFormat, { readonly extension: string; readonly level: number }>> = {
  zstd: { extension: "zst", level: 3 },
  gzip: { extension: "gz", level: 6 },
  brotli: { extension: "br", level: 5 },
};

/** The formats with the extensions of their files. */
export const packedFormats: readonly { readonly format: SeriesFormat; readonly extension: string }[] = Object.entries(
  formats,
).map(([format, { extension }]) => ({ format: format as SeriesFormat, extension }));

/** Returns the numbers of the names that are of a series, compressed or not, whoever made the files. */
export function numbersIn(names: readonly string[], series: FileSeries): number[] {
  return names.flatMap((name) => {
    const packed = packedFormats.find(({ extension }) => name.endsWith(`.${extension}`));
    const plain = packed === undefined ? name : name.slice(0, -packed.extension.length - 1);
    return series.numberOf(name) ?? series.numberOf(plain) ?? [];
  });
}

/** The parts of a series that compression needs. */
export interface PackedSeries {
  readonly directory: string;
  readonly record: SeriesRecord;
  /** The number of the file that is being written, which is neither compressed nor removed. */
  readonly openNumber: number;
  /** The path of a file before it is compressed. */
  plainPathOf(number: number): string;
}

/**
 * Compresses the complete files of a series, each whole or not at all: into a temporary file, which is recorded, flushed
 * and renamed before the file itself is removed. Whatever step a killed process has come to, the next one goes on there.
 */
export class SeriesPacker {
  readonly #series: PackedSeries;
  readonly #format: SeriesFormat | undefined;
  readonly #thread = new CompressWorkerThread();
  #isStopped = false;
  /** When no further file is begun any more, in ms since the process began. */
  lastBegin: number = Infinity;

  /** @param format The format; without one, only what earlier streams began is brought to its end. */
  constructor(series: PackedSeries, format: SeriesFormat | undefined) {
    this.#series = series;
    this.#format = format;
  }

  /** Compresses all files that are complete and are not yet. */
  async pack(): Promise<void> {
    for (const entry of this.#series.record.entries) {
      if (this.#isStopped || performance.now() > this.lastBegin) return;
      if (entry.isPacked || entry.file.size === undefined || entry.number === this.#series.openNumber) continue;
      if (entry.packed !== undefined && await this.#complete(entry, entry.packed)) continue;
      if (entry.temporary !== undefined) await requireRemoved(this.#pathOfTemporary(entry.temporary));
      if (this.#format !== undefined && !entry.isRaw) await this.#compress(entry, this.#format);
    }
  }

  /** Ends the thread. */
  stop(): void {
    this.#isStopped = true;
    this.#thread.stop();
  }

  async #compress(entry: SeriesEntry, format: SeriesFormat): Promise<void> {
    const { record } = this.#series;
    const { number } = entry;
    const source = this.#series.plainPathOf(number);
    const status = provenFile(source, entry.file);
    if (status === undefined) return record.forget(number); // removed or changed: no longer what the series wrote
    const temporary = temporaryPath(source);
    record.note(number, { temporary: basename(temporary) });
    const { extension, level } = formats[format];
    try {
      closeSync(openSync(temporary, "wx", Number(status.mode) & 0o666)); // which the worker opens again
      const mtimeMs = Number(status.mtimeNs) / 1e6;
      const outcome = await this.#thread.run({ source, temporary, format, level, mtimeMs });
      if (outcome.message !== undefined) throw Object.assign(new Error(outcome.message), outcome);
      const packed = { ...proofOfComplete(lstatSync(temporary, { bigint: true })), extension };
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
    const { record, directory } = this.#series;
    const plain = this.#series.plainPathOf(entry.number);
    const target = `${plain}.${packed.extension}`;
    const temporary = this.#pathOfTemporary(entry.temporary);
    if (provenFile(target, packed) === undefined) {
      if (provenFile(temporary, packed) === undefined) return false;
      try {
        await takeName(temporary, target, { replace: false, atOnce: false });
      } catch (error) {
        if ((error as { code?: unknown }).code !== "EEXIST") throw error;
        await removeTemporary(temporary);
        record.noteIfPossible(entry.number, { isRaw: true }); // somebody else's file has the name: it stays
        return true;
      }
    }
    await removeTemporary(temporary); // a second name of the same file, if the process was killed between
    await flushFolder(directory);
    await removeProven(plain, entry.file);
    record.noteIfPossible(entry.number, { isPacked: true });
    return true;
  }

  #pathOfTemporary(name: string): string {
    return join(this.#series.directory, name);
  }
}

/** Removes a temporary file that the record of a series names. */
export async function requireRemoved(temporary: string): Promise<void> {
  if (!await removeTemporary(temporary)) throw new Error(`Cannot remove ${temporary}: it is no file, or is kept open`);
}

/** Removes a file if it is the one of a proof; else it is gone, or another file by now. */
export async function removeProven(path: string, proof: FileProof): Promise<void> {
  const status = provenFile(path, proof);
  if (status === undefined) return;
  await removeIfSame(path, status).catch(failing("remove", path));
}
