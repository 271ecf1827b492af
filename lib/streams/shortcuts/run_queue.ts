import { ChunkQueue } from "../queuing/chunk_queue.ts";
import { Runs } from "./runs.ts";

/**
 * A queue of chunks of size 1 of which some come many at once: they stay in the arrays they came in. It takes the place
 * of a stream's first queue when they do, so that other streams need not ask for them.
 */
export class RunQueue extends ChunkQueue {
  /** While there are any, arrays hold all chunks. */
  #runs: Runs<unknown> | undefined;

  /** Enqueues the chunks from `start` on, of which there must be one; the array belongs to the queue from then on. */
  enqueueRun(chunks: unknown[], start: number): void {
    if (this.length === 0) this.#runs = new Runs();
    if (this.#runs === undefined) {
      enqueueOneByOne(this, chunks, start);
      return;
    }
    this.#runs.pushAll(chunks, start);
    this.length += chunks.length - start;
    this.totalSize += chunks.length - start;
  }

  /** Dequeues some of the chunks that came at once, at most `count`; none if the first one came alone. */
  dequeueRun(count: number): unknown[] {
    if (this.#runs === undefined) return [];
    const run = this.#runs.shiftRun(count);
    this.length -= run.length;
    this.totalSize -= run.length;
    if (this.length === 0) this.#runs = undefined;
    return run;
  }

  override push(chunk: unknown): void {
    if (this.#runs === undefined) {
      super.push(chunk);
    } else {
      this.#runs.push(chunk);
      this.length++;
    }
  }

  override shift(): unknown {
    if (this.#runs === undefined) return super.shift();
    const chunk = this.#runs.shift();
    if (--this.length === 0) this.#runs = undefined;
    return chunk;
  }

  override peek(): unknown {
    return this.#runs === undefined ? super.peek() : this.#runs.peek();
  }

  override clear(): void {
    super.clear();
    this.#runs = undefined;
  }
}

/** A queue in whose place a {@linkcode RunQueue} may be put. */
interface QueueOwner {
  queue: ChunkQueue;
}

/** Enqueues the chunks from `start` on, of which there must be one; the array belongs to the queue from then on. */
export function enqueueRun(owner: QueueOwner, chunks: unknown[], start: number): void {
  if (owner.queue.length === 0 && !(owner.queue instanceof RunQueue)) owner.queue = new RunQueue();
  if (owner.queue instanceof RunQueue) owner.queue.enqueueRun(chunks, start);
  else enqueueOneByOne(owner.queue, chunks, start);
}

function enqueueOneByOne(queue: ChunkQueue, chunks: unknown[], start: number): void {
  for (let i = start; i < chunks.length; i++) queue.enqueue(chunks[i], 1);
}

/** Dequeues some chunks, at least one and at most `count`; the queue must not be empty. */
export function dequeueSome(queue: ChunkQueue, count: number): unknown[] {
  const some = queue instanceof RunQueue ? queue.dequeueRun(count) : [];
  if (some.length > 0) return some;
  for (let i = Math.min(count, queue.length); i > 0; i--) some.push(queue.dequeue());
  return some;
}
