import type { WritableStreamDefaultController } from "../streams/mod.ts";

/** A writer to the files of a series, one after the other; the caller ends each, and makes one call at a time. */
export interface SeriesWriter {
  readonly maxFileSize: number;
  /** The paths of the files that are complete. */
  readonly files: readonly string[];
  /** Bytes that the file of the next write has room for. */
  readonly room: number;
  /**
   * Makes the directory, and sees that the series can be written.
   *
   * @param controller Its signal tells, while a write is under way, that the stream is aborted.
   */
  start(controller: Pick<WritableStreamDefaultController, "signal">): Promise<void>;
  /** Appends bytes to the open file, or to a new one; there must be room for them. */
  write(pieces: readonly Uint8Array[], length: number): Promise<void>;
  /** Ends the open file; the next write begins another. */
  rotate(): Promise<void>;
  /** Waits until what was written is on the disk. */
  flush(): Promise<void>;
  /** Ends the series. */
  close(): Promise<void>;
  /** Lets go of the open file: it stays as it is, or goes if it is atomic. */
  discard(): Promise<void>;
  /** The stream has failed, and tells its sink nothing more: what a write under way would open would stay open. */
  abandon(): void;
}
