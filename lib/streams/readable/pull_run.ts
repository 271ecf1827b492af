import { acquireArray, ARRAY_LENGTH } from "../shortcuts/chunk_array_queue.ts";
import { isThenableLike, markAsHandled, NativePromise } from "../language/promises.ts";
import type { GatheredBatch } from "../queuing/read_batch.ts";
import type { DefaultControllerState } from "./default_controller_state.ts";
import { SyncIteratorSource } from "./from.ts";

/** A pipe that asks for a run of chunks. */
export interface RunningPipe {
  /** Whether it still wants chunks; code of users, called for one, may have ended that. */
  readonly wantsChunks: boolean;
}

/**
 * Has a stream that was made of an iterable, and has nothing buffered, give a pipe up to so many chunks at once, while
 * the pipe goes on, in an array to keep. Errors the stream itself; what it cannot give in this way it leaves to the next
 * `pull()`, as every other stream does.
 */
export function pullRun(controller: DefaultControllerState, most: number, pipe: RunningPipe): unknown[] {
  const { source } = controller;
  if (!(source instanceof SyncIteratorSource) || source.ahead !== undefined) return [];
  if (!controller.started || controller.pulling || controller.closeRequested) return [];
  const run = most === ARRAY_LENGTH ? acquireArray() : new Array<unknown>(most);
  let length = 0;
  try {
    for (; length < most && pipe.wantsChunks; length++) {
      const next = source.next();
      if (next.done || isThenableLike(next.value)) {
        source.ahead = next;
        if (next.value instanceof NativePromise) markAsHandled(next.value); // the pull may never come
        break;
      }
      run[length] = next.value;
    }
  } catch (error) {
    controller.error(error);
  }
  if (length < most) run.length = length;
  return run;
}

/** Pulls a run into a batch, which checks each chunk before the next one. */
export function pullRunInto(controller: DefaultControllerState, batch: GatheredBatch, taker: RunningPipe): void {
  const { source } = controller;
  if (!(source instanceof SyncIteratorSource) || source.ahead !== undefined) return;
  if (!controller.started || controller.pulling || controller.closeRequested) return;
  try {
    while (taker.wantsChunks) {
      const next = source.next();
      if (next.done || isThenableLike(next.value)) {
        source.ahead = next;
        if (next.value instanceof NativePromise) markAsHandled(next.value); // the pull may never come
        break;
      }
      batch.add(next.value);
    }
  } catch (error) {
    controller.error(error);
  }
}
