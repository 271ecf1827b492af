import { constants } from "node:fs";
import { openEncoder } from "../../codecs/internal.ts";
import { ready } from "../../codecs/mod.ts";
import { type Identity, OpenFile } from "../open_file.ts";
import { writeFully } from "../write_fully.ts";
import type { SeriesFormat } from "./file_series.ts";

interface KnownFile extends Identity {
  readonly path: string;
}

/** A file to compress; plain data, for a worker. */
export interface CompressJob {
  readonly source: KnownFile;
  /** The temporary file for the compressed form, which exists and is empty. */
  readonly temporary: KnownFile;
  readonly format: SeriesFormat;
  readonly level: number;
  /** The modification time for the compressed form, in ms since 1970. */
  readonly mtimeMs: number;
}

/** The outcome of a job, which has failed if there is a message. */
export interface CompressOutcome {
  readonly message?: string;
  readonly code?: string;
}

const CHUNK_SIZE = 256 * 1024;

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

/** Compresses a file into another one, which exists and is empty, and flushes that to the disk. */
async function compressFile(job: CompressJob, signal: AbortSignal): Promise<void> {
  const encoder = openEncoder(job.format, { level: job.level });
  const open: OpenFile[] = [];
  try {
    const from = open[0] = OpenFile.openSame(job.source.path, constants.O_RDONLY, job.source);
    const to = open[1] = OpenFile.openSame(job.temporary.path, constants.O_RDWR, job.temporary);
    const buffer = new Uint8Array(CHUNK_SIZE);
    for (let read = 1; read > 0;) {
      read = await from.read(buffer);
      signal.throwIfAborted();
      await writeFully(to, encoder.write(buffer.subarray(0, read)));
    }
    await writeFully(to, encoder.finish());
    to.setModified(job.mtimeMs);
    await to.sync();
  } finally {
    encoder.close();
    await Promise.all(open.map((file) => file.close()));
  }
}
