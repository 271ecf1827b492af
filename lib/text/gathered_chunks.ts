import { enqueueAll, RUN_LENGTH, takeRun } from "../streams/internal.ts";
import type { TransformStreamDefaultController } from "../streams/mod.ts";

/** A buffer of a transformer's output, enqueued many chunks at once: 64 at once take a fifth more time. */
export class GatheredChunks<T> {
  readonly #controller: TransformStreamDefaultController<T>;
  #chunks: T[] = takeRun() as T[];
  #count = 0;

  constructor(controller: TransformStreamDefaultController<T>) {
    this.#controller = controller;
  }

  add(chunk: T): void {
    this.#chunks[this.#count++] = chunk;
    if (this.#count === RUN_LENGTH) this.#enqueueFull();
  }

  #enqueueFull(): void {
    const chunks = this.#chunks;
    this.#chunks = takeRun() as T[];
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
