import { isThenableLike, markAsHandled, NativePromise } from "../language/promises.ts";
import { acquireArray, ARRAY_LENGTH } from "../shortcuts/chunk_array_queue.ts";
import type { GatheredBatch } from "../queuing/read_batch.ts";
import type { DefaultControllerState } from "./default_controller_state.ts";
import type { IteratorOutcome, SyncIteratorSource } from "./from.ts";

/** A pipe that can take many chunks at once. */
export interface RunningPipe {
  /** Whether the pipe still has room; false once user code, called for a chunk, has ended the pipe. */
  readonly wantsChunks: boolean;
}

/** Returns the source of a stream over an iterable, if its items may be taken without a pull. */
function itemsOf(controller: DefaultControllerState): SyncIteratorSource | undefined {
  const source = controller.source as Partial<SyncIteratorSource>; // its class would come with it into each page
  if (!source.next || source.ahead !== undefined) return undefined;
  if (!controller.started || controller.pulling || controller.closeRequested) return undefined;
  return source as SyncIteratorSource;
}

/** Takes the next item; leaves the end, or one that needs a promise, to the next `pull()` and returns undefined. */
function nextAtOnce(source: SyncIteratorSource): IteratorOutcome | undefined {
  const next = source.next();
  if (!next.done && !isThenableLike(next.value)) return next;
  source.ahead = next;
  if (next.value instanceof NativePromise) markAsHandled(next.value); // no later pull may handle a rejection
  return undefined;
}

/**
 * Takes up to `most` chunks for a pipe, in a new array, from a stream over an iterable with an empty queue. A failing
 * iterator errors the stream. Items that need a promise are left to the next `pull()`, as are all chunks of other
 * streams.
 */
export function pullRun(controller: DefaultControllerState, most: number, pipe: RunningPipe): unknown[] {
  const source = itemsOf(controller);
  if (source === undefined) return [];
  const run = most === ARRAY_LENGTH ? acquireArray() : new Array<unknown>(most);
  let length = 0;
  try {
    for (let next; length < most && pipe.wantsChunks && (next = nextAtOnce(source));) run[length++] = next.value;
  } catch (error) {
    controller.error(error);
  }
  if (length < most) run.length = length;
  return run;
}

/** Pulls items into a batch, which checks each chunk before the next one. */
export function pullRunInto(controller: DefaultControllerState, batch: GatheredBatch, taker: RunningPipe): void {
  const source = itemsOf(controller);
  if (source === undefined) return;
  try {
    for (let next; taker.wantsChunks && (next = nextAtOnce(source));) batch.add(next.value);
  } catch (error) {
    controller.error(error);
  }
}
