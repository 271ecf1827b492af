/** Where a body is written to. One call at a time. */
export interface BodySink {
  /** The absolute path of what is written, if it is a file. */
  readonly path?: string;
  /** Appends all bytes; when it is fulfilled, the memory of the pieces may be used again. */
  write(pieces: readonly Uint8Array[]): Promise<void>;
  /** All is written: flushes it if that was asked, and closes the file, which does not have its name yet. */
  end(): Promise<void>;
  /** Gives it its name; after {@linkcode end}. */
  commit(): Promise<void>;
  /** Leaves nothing of it, before and after {@linkcode end}. Never rejects. */
  discard(reason: unknown): Promise<void>;
}
