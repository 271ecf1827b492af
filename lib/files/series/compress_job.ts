import { closeSync, fsyncSync, futimesSync, openSync, readSync, writeSync } from "node:fs";
import { openEncoder } from "../../codecs/internal.ts";
import { ready } from "../../codecs/mod.ts";
import { systemTime } from "../open_file.ts";
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

export async function runCompressJob(job: CompressJob, post: (outcome: CompressOutcome) => void): Promise<void> {
  try {
    await ready([job.format], "compress");
    compressFile(job);
    post({});
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    post({ message, ...(typeof code === "string" && { code }) });
  }
}

/** Compresses a file into another one, which is there and empty, and flushes that to the disk. */
function compressFile({ source, temporary, format, level, mtimeMs }: CompressJob): void {
  const from = openSync(source, "r");
  try {
    const to = openSync(temporary, "r+");
    try {
      const encoder = openEncoder(format, { level });
      try {
        const buffer = new Uint8Array(PIECE);
        for (let read = 1; read > 0;) {
          read = readSync(from, buffer, 0, PIECE, null);
          writeAll(to, encoder.write(buffer.subarray(0, read)));
        }
        writeAll(to, encoder.finish());
      } finally {
        encoder.close();
      }
      futimesSync(to, systemTime(mtimeMs), systemTime(mtimeMs));
      fsyncSync(to);
    } finally {
      closeSync(to);
    }
  } finally {
    closeSync(from);
  }
}

function writeAll(descriptor: number, pieces: readonly Uint8Array[]): void {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length;) {
      start += writeSync(descriptor, piece, start, piece.length - start, null);
    }
  }
}
