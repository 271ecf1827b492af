/** A request for a batch: exactly one of its steps is called, unless the reader is released first. */
export interface BatchRequest {
  batchSteps(batch: unknown[]): void;
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/** A reader that has locked a stream and takes all chunks of its queue in one step. */
export interface BatchReader {
  /** Takes the chunks that are there at once, unless more are to be waited for. */
  take(): unknown[] | undefined;
  /** Waits for chunks, or for the end of the stream; to be called when {@linkcode take} gave nothing, once at a time. */
  read(request: BatchRequest): void;
  cancel(reason: unknown): Promise<void>;
  /**
   * Unlocks the stream, forgets a request that waits, and returns what was gathered for it: later, if a chunk may be on
   * its way. A call of {@linkcode take} that is under way returns that instead.
   */
  release(): unknown[] | Promise<unknown[] | undefined> | undefined;
}
