/** The limits of a batch, whatever else is queued. */
export interface BatchLimits {
  /** The maximum number of chunks in a batch. */
  readonly maxChunks: number;
  /** The size in bytes from which a batch is complete. */
  readonly maxBytes: number;
}

/** The microtasks for which a batch waits for a busy source: an async generator takes four for a chunk. */
const IDLE_MICROTASKS = 6;

const { isView } = ArrayBuffer;

/** A batch that grows. */
export class GatheredBatch {
  readonly chunks: unknown[] = [];
  readonly #limits: BatchLimits;
  #bytes = 0;
  #seen = 0;
  #idle = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  add(chunk: unknown): void {
    this.chunks.push(chunk);
    if (isView(chunk)) this.#bytes += chunk.byteLength;
    else if (typeof chunk === "string") this.#bytes += chunk.length;
  }

  get hasRoom(): boolean {
    return this.chunks.length < this.#limits.maxChunks && this.#bytes < this.#limits.maxBytes;
  }

  /** Whether a batch with room has waited long enough for a busy source; must be called once a microtask. */
  waitsNoLonger(): boolean {
    const { length } = this.chunks;
    this.#idle = length > this.#seen ? 0 : this.#idle + 1;
    this.#seen = length;
    return this.#idle >= IDLE_MICROTASKS;
  }
}

/** A request for a batch: exactly one of its steps is called, unless the reader is released first. */
export interface BatchRequest {
  batchSteps(batch: unknown[]): void;
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/** A reader that has locked a stream and takes all chunks of its queue in one step. */
export interface BatchReader {
  /** Takes the chunks that are available at once, unless the batch should wait for more. */
  take(): unknown[] | undefined;
  /** Waits for chunks or the end of the stream; called after {@linkcode take} returned nothing, one call at a time. */
  read(request: BatchRequest): void;
  cancel(reason: unknown): Promise<void>;
  /** Unlocks the stream and returns the gathered chunks; a promise if a pending read may still get one. */
  release(): unknown[] | Promise<unknown[] | undefined> | undefined;
}
