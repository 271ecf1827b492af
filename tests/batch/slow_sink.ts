import type { BatchedUnderlyingSink } from "../../lib/batch/mod.ts";
import { turn } from "./progress.ts";

/** The time that a sink takes for a batch. */
export type Pace = "at once" | "in a microtask" | "in a turn";

/** A sink that keeps and counts its chunks. */
export class SlowSink implements BatchedUnderlyingSink<number> {
  readonly batches: number[][] = [];
  readonly maxBatch: number | undefined;
  /** The calls of close() and abort(). */
  readonly ends: string[] = [];
  readonly #pace: Pace;

  constructor(pace: Pace, maxBatch?: number) {
    this.#pace = pace;
    this.maxBatch = maxBatch;
  }

  get numbers(): number[] {
    return this.batches.flat();
  }

  get largestBatch(): number {
    return this.batches.reduce((most, { length }) => Math.max(most, length), 0);
  }

  writev(chunks: number[]): void | Promise<void> {
    if (this.ends.length > 0) throw new Error("writev() after the end");
    this.batches.push(chunks);
    if (this.#pace === "in a turn") return turn();
    if (this.#pace === "in a microtask") return Promise.resolve();
  }

  close(): void {
    this.ends.push("close");
  }

  abort(reason: unknown): void {
    this.ends.push(`abort ${reason}`);
  }
}

/** All paces. */
export const paces: readonly Pace[] = ["at once", "in a microtask", "in a turn"];
