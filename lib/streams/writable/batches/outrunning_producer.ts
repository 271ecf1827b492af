import { currentPause } from "../../shortcuts/long_turn.ts";

/** The least time, in ms, that a producer is given to fill the queue. */
const LEAST = 1;
/** The share of the queue that a long pipe has to add from one pause to the next, if its batch is to wait for it. */
const SHARE = 1 / 8;

/**
 * A producer that had to wait for the sink: it gets the time to fill the queue again before the next batch starts. It
 * counts as filling while it adds something each turn, for as long as the last batch took.
 */
export class OutrunningProducer {
  /** Whether the queue was full before the last batch was done with. */
  #hadToWait = false;
  #batchGivenAt = 0;
  #until = 0;
  /** How much was queued when that was last asked. */
  #queued = 0;
  /** The last pause of long pipes that was waited for, and how much was queued then, or when the last batch was written. */
  #pause = 0;
  #queuedAtPause = 0;

  /** A batch was given to the sink. */
  batchGiven(isFull: boolean): void {
    this.#hadToWait = isFull;
    this.#batchGivenAt = performance.now();
  }

  /** The queue is full. */
  mustWait(): void {
    this.#hadToWait = true;
  }

  /** The batch is written, with so much queued behind it; returns whether the producer had to wait for that. */
  batchWritten(queued: number): boolean {
    this.#queuedAtPause = queued;
    if (!this.#hadToWait) return false;
    const now = performance.now();
    this.#until = now + Math.max(LEAST, now - this.#batchGivenAt);
    this.#queued = queued;
    return true;
  }

  /** At the end of a turn: whether the producer is filling the queue again, with so much in it by now. */
  isFilling(queued: number): boolean {
    this.#hadToWait = this.#hadToWait && queued > this.#queued && performance.now() < this.#until;
    this.#queued = queued;
    return this.#hadToWait;
  }

  /** At the end of a turn: whether a long pipe makes a pause, that may be the one that fills the queue. */
  isPaused(queued: number, highWaterMark: number): boolean {
    const pause = currentPause();
    if (pause === 0) return false;
    if (pause === this.#pause) return true;
    if (queued - this.#queuedAtPause < highWaterMark * SHARE) return false;
    this.#pause = pause;
    this.#queuedAtPause = queued;
    return true;
  }
}
