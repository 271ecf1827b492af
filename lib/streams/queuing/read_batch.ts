/** The limits of a batch that is read, whatever more is queued. */
export interface BatchLimits {
  /** The chunks that a batch has at most. */
  readonly maxChunks: number;
  /** The bytes from which on a batch takes no further chunk. */
  readonly maxBytes: number;
}

/** The number of microtasks that a batch waits for a busy source: an async generator takes four for a chunk. */
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

  /** Whether the batch has waited long enough for a busy source while it has room; must be called once a microtask. */
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
  /** Takes the chunks that are there at once, unless the batch should wait for more. */
  take(): unknown[] | undefined;
  /** Waits for chunks, or for the end of the stream; called after {@linkcode take} returned nothing, once at a time. */
  read(request: BatchRequest): void;
  cancel(reason: unknown): Promise<void>;
  /** Unlocks the stream and returns the gathered chunks; a promise if a pending read may still bring one. */
  release(): unknown[] | Promise<unknown[] | undefined> | undefined;
}
