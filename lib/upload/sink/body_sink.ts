/** The destination of a body. One call at a time. */
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

/** A sink that takes all of a stream at once, without a detour through JavaScript. */
export interface StreamTaker extends BodySink {
  /**
   * Writes all of a stream; resolves to the number of bytes. It cannot be stopped, only {@linkcode discard}ed: the file
   * loses its name at once, and is closed when the stream ends.
   *
   * @throws {UploadError} `ABORTED` if the sender left.
   */
  writeStream(stream: ReadableStream<Uint8Array>): Promise<number>;
  /** How many bytes are written so far. */
  size(): number;
  /** Reads bytes that are written, from the one at `position` on; returns how many were read. */
  readBack(buffer: Uint8Array, position: number): number;
}

/** Whether a sink takes streams; only where the runtime can do that. */
export function takesStreams(sink: BodySink): sink is StreamTaker {
  return "writeStream" in sink;
}
