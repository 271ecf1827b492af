import { enqueueAll } from "../streams/internal.ts";
import type { TransformStreamDefaultController } from "../streams/mod.ts";

/** How many are enqueued at once: with more, each costs as much; with 64, a fifth more. */
const MOST = 2048;

/**
 * What a transformer makes of a chunk, gathered to be enqueued many at once. Each array is new: to put a chunk into an
 * old one costs more than the array, where objects have generations.
 */
export class GatheredChunks<T> {
  readonly #controller: TransformStreamDefaultController<T>;
  #chunks: T[] = new Array<T>(MOST);
  #count = 0;

  constructor(controller: TransformStreamDefaultController<T>) {
    this.#controller = controller;
  }

  add(chunk: T): void {
    this.#chunks[this.#count++] = chunk;
    if (this.#count === MOST) this.#enqueueFull();
  }

  #enqueueFull(): void {
    const chunks = this.#chunks;
    this.#chunks = new Array<T>(MOST);
    this.#count = 0;
    enqueueAll(this.#controller, chunks);
  }

  /** Enqueues what was added: to be called at the end of each transform. */
  enqueue(): void {
    if (this.#count === 0) return;
    const chunks = this.#chunks.slice(0, this.#count);
    this.#count = 0;
    enqueueAll(this.#controller, chunks);
  }
}
