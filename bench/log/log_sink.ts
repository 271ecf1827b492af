/** A log that rotates its files. */
export interface LogSink {
  /** Writes a line; returns a promise if the producer has to wait. */
  write(line: string): Promise<unknown> | undefined;
  /** Completes the last file. */
  end(): Promise<void>;
}

/** Opens a log in a directory, whose files have at most `maxFileSize` bytes. */
export type OpenLog = (directory: string, maxFileSize: number) => Promise<LogSink>;
