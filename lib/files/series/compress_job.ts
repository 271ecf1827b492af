import { openEncoder } from "../../codecs/internal.ts";
import { ready } from "../../codecs/mod.ts";
import { OpenFile, writeFully } from "../open_file.ts";
import type { SeriesFormat } from "./file_series.ts";

export interface CompressJob {
  readonly source: string;
  /** The temporary file for the compressed form; it exists, and is empty. */
  readonly temporary: string;
  readonly format: SeriesFormat;
  readonly level: number;
  /** The time of last change that the compressed form gets, in ms since 1970. */
  readonly mtimeMs: number;
}

/** The end of a job; it has failed if there is a message. */
export interface CompressOutcome {
  readonly message?: string;
  readonly code?: string;
}

const PIECE = 256 * 1024;

export async function runCompressJob(
  job: CompressJob,
  post: (outcome: CompressOutcome) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    await ready([job.format], "compress");
    await compressFile(job, signal);
    post({});
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    post({ message, ...(typeof code === "string" && { code }) });
  }
}

/** Compresses a file into another one, which is there and empty, and flushes that to the disk. */
async function compressFile(job: CompressJob, signal: AbortSignal): Promise<void> {
  const from = OpenFile.openNow(job.source, "r");
  try {
    const to = OpenFile.openNow(job.temporary, "r+");
    try {
      const encoder = openEncoder(job.format, { level: job.level });
      try {
        const buffer = new Uint8Array(PIECE);
        for (let read = 1; read > 0;) {
          read = await from.read(buffer);
          signal.throwIfAborted();
          await writeFully(to, encoder.write(buffer.subarray(0, read)));
        }
        await writeFully(to, encoder.finish());
      } finally {
        encoder.close();
      }
      await to.setModified(job.mtimeMs);
      await to.sync();
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}
