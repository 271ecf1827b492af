import type { DefaultControllerState } from "../../readable/default_controller_state.ts";
import type { RunningPipe } from "../../readable/pull_run.ts";
import type { WriteRequest } from "../stream_state.ts";

/**
 * How a stream queues chunks whose sink takes them in batches. To the rest of the stream a batch is one chunk, and a
 * write request, which grows until the sink gets it: queue, close, abort and errors need not know of batches.
 */
export interface Batching {
  /** Adds a chunk that a writer wrote; returns the promise of its batch. A size that is none errors the stream. */
  enqueue(chunk: unknown, size: number): Promise<void>;
  /** Adds a chunk that a pipe wrote. */
  enqueueForPipe(chunk: unknown, size: number, request: WriteRequest): void;
  /**
   * Moves what is buffered for a pipe, or else what its source can give at once, as far as there is room for chunks of
   * size 1; returns whether there was anything.
   */
  moveForPipe(source: DefaultControllerState, pipe: RunningPipe & WriteRequest): boolean;
  /** Takes all chunks out of the batches that wait, in order; what waits for these goes on to wait. */
  drain(): unknown[];
  /** Whether the first batch that waits is to be written now; if not, it will be when the current turn ends. */
  isDue(): boolean;
  /** Has what waits written now, as no more is to come; `closes` tells whether the stream will be closed then. */
  hurry(closes: boolean): void;
  /** No batch will start any more. */
  end(): void;
}
