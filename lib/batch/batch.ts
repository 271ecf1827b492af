import { Deferred, type WriteRequest } from "../streams/internal.ts";

/** Chunks that come many at once stay in their array if they are so many. */
const SMALLEST_PART = 64;

/** What wants to know when a batch has been written. */
export interface BatchOwner {
  batchWritten(batch: Batch): void;
}

/** The chunks that one `writev()` gets, and what waits for it. */
export class Batch implements WriteRequest {
  readonly #owner: BatchOwner;
  /** The sum of the chunks' sizes. */
  size = 0;
  #length = 0;
  /** The chunks, in arrays that are put together when all of them are there: to append one to the other copies more. */
  readonly #parts: unknown[][] = [];
  /** The last part, where it is one for chunks that come alone. */
  #open: unknown[] | undefined = undefined;
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

  add(chunk: unknown, size: number): void {
    this.size += size;
    this.#length++;
    if (this.#open === undefined) this.#parts.push(this.#open = [chunk]);
    else this.#open.push(chunk);
  }

  /** Adds chunks of size 1; the list is not to be used again. */
  addAll(chunks: unknown[]): void {
    if (chunks.length < SMALLEST_PART) {
      for (let i = 0; i < chunks.length; i++) this.add(chunks[i], 1);
      return;
    }
    this.size += chunks.length;
    this.#length += chunks.length;
    this.#parts.push(chunks);
    this.#open = undefined;
  }

  /** All chunks, in an array that nobody else uses. */
  get chunks(): unknown[] {
    const parts = this.#parts;
    if (parts.length === 1) return parts[0];
    const all = new Array<unknown>(this.#length);
    let next = 0;
    for (const part of parts) for (let i = 0; i < part.length; i++) all[next++] = part[i];
    return all;
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
