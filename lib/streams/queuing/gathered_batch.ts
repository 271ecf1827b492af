/** The limits of a batch that is read, whatever more is queued. */
export interface BatchLimits {
  /** The chunks that a batch has at most. */
  readonly maxChunks: number;
  /** The bytes from which on a batch takes no further chunk. */
  readonly maxBytes: number;
}

/** For how many microtasks a batch waits for a source that is at work: an async generator takes four for a chunk. */
const PATIENCE = 6;

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

  /** Whether it has waited long enough, with room and a source at work; to be asked once a microtask. */
  waitsNoLonger(): boolean {
    const { length } = this.chunks;
    this.#idle = length > this.#seen ? 0 : this.#idle + 1;
    this.#seen = length;
    return this.#idle >= PATIENCE;
  }
}
