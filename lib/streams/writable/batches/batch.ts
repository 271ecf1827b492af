import { Deferred } from "../../language/promises.ts";
import { RUN_LENGTH, takeRun } from "../../shortcuts/number_runs.ts";
import type { WriteRequest } from "../stream_state.ts";

/**
 * Chunks that come many at once stay in their array if they are so many. As many that come alone get one that grows; more
 * of them get arrays that do not, since one that does leaves twice its own size as garbage.
 */
const SMALL_PART = 64;
const NONE: unknown[] = [];

/** The owner of a batch, notified when it has been written. */
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
  #parts: unknown[][] = [];
  /** The last part, if it has room for chunks that come alone, and how many it holds of how many. */
  #open: unknown[] = NONE;
  #openLength = 0;
  #openRoom = 0;
  /** Behind the promise of every `write()` whose chunk is here: they settle alike. */
  #deferred: Deferred<void> | undefined = undefined;
  /** The pipes that wrote some of the chunks; few batches have more than one. */
  readonly #pipes: WriteRequest[] = [];

  constructor(owner: BatchOwner) {
    this.#owner = owner;
  }

  /** Whether nobody has a promise, and so nobody can tell if a sink that returned none was done at once. */
  get settlesAtOnce(): boolean {
    return this.#deferred === undefined;
  }

  get promise(): Promise<void> {
    return (this.#deferred ??= new Deferred()).promise;
  }

  add(chunk: unknown, size: number): void {
    if (this.#openLength === this.#openRoom) this.#openPart();
    this.#open[this.#openLength++] = chunk;
    this.#length++;
    this.size += size;
  }

  /** Adds chunks of size 1; the list is not to be used again. */
  addAll(chunks: unknown[]): void {
    if (chunks.length < SMALL_PART) {
      for (let i = 0; i < chunks.length; i++) this.add(chunks[i], 1);
      return;
    }
    this.#closePart();
    this.#parts.push(chunks);
    this.#length += chunks.length;
    this.size += chunks.length;
  }

  /** All chunks, in arrays that nobody else uses. */
  takeParts(): unknown[][] {
    this.#closePart();
    return this.#parts;
  }

  /** All chunks, in one such array. */
  takeChunks(): unknown[] {
    const parts = this.takeParts();
    if (parts.length === 1) return parts[0];
    const all = new Array<unknown>(this.#length);
    let next = 0;
    for (const part of parts) {
      for (let i = 0; i < part.length; i++) all[next++] = part[i];
    }
    return all;
  }

  /** Takes all chunks out: what waits for the batch goes on to wait, and its size counts until then. */
  drain(): unknown[] {
    const chunks = this.takeChunks();
    this.#parts = [];
    this.#length = 0;
    return chunks;
  }

  #openPart(): void {
    this.#openLength = 0;
    this.#openRoom = this.#length === 0 ? SMALL_PART : RUN_LENGTH;
    this.#parts.push(this.#open = this.#length === 0 ? [] : takeRun());
  }

  #closePart(): void {
    if (this.#open.length > this.#openLength) this.#open.length = this.#openLength;
    this.#open = NONE;
    this.#openLength = this.#openRoom = 0;
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
