import { Deferred, type WriteRequest } from "../streams/internal.ts";

/** What wants to know when a batch has been written. */
export interface BatchOwner {
  batchWritten(batch: Batch): void;
}

/** The chunks that one `writev()` gets, and what waits for it. */
export class Batch implements WriteRequest {
  readonly #owner: BatchOwner;
  chunks: unknown[] = [];
  /** The sum of the chunks' sizes. */
  size = 0;
  /** Behind the promise of every `write()` whose chunk is here: they settle alike. */
  #deferred: Deferred<void> | undefined = undefined;
  /** The pipes that wrote some of the chunks; few batches have more than one. */
  readonly #pipes: WriteRequest[] = [];

  constructor(owner: BatchOwner) {
    this.#owner = owner;
  }

  /** Where nobody has a promise, nobody can tell whether a sink that returned none was done at once. */
  get fused(): boolean {
    return this.#deferred === undefined;
  }

  get promise(): Promise<void> {
    return (this.#deferred ??= new Deferred()).promise;
  }

  /** Adds chunks of size 1; the list is not to be used again. */
  addAll(chunks: unknown[]): void {
    this.size += chunks.length;
    if (this.chunks.length === 0) this.chunks = chunks;
    else for (let i = 0; i < chunks.length; i++) this.chunks.push(chunks[i]);
  }

  /** Adds the request of a pipe, which waits once for all that it writes here. */
  addPipe(request: WriteRequest): void {
    const pipes = this.#pipes;
    if (pipes.length > 0 && pipes[pipes.length - 1] === request) request.resolve();
    else pipes.push(request);
  }

  resolve(): void {
    this.#deferred?.resolve();
    for (const request of this.#pipes) request.resolve();
    this.#owner.batchWritten(this);
  }

  reject(reason: unknown): void {
    this.#deferred?.reject(reason);
    for (const request of this.#pipes) request.reject(reason);
  }
}
