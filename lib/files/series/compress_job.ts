import type { SeriesFormat } from "../rotation_options.ts";

/** A file that a worker is to compress. */
export interface CompressJob {
  readonly source: string;
  /** The temporary file for the compressed form; it exists, and is empty. */
  readonly temporary: string;
  readonly format: SeriesFormat;
  readonly level: number;
  /** The time of last change that the compressed form gets, in ms since 1970. */
  readonly mtimeMs: number;
}

/** How a job has ended; it has failed if there is a message. */
export interface CompressOutcome {
  readonly message?: string;
  readonly code?: string;
}
