import { endedError } from "../../language/errors.ts";
import { promiseRejectedWith } from "../../language/promises.ts";
import { writableStreamStateOf } from "../lockable.ts";
import { writableStreamCloseQueuedOrInFlight } from "../stream_state.ts";

/**
 * Queues what a stream of batches wants of its own sink behind all that was written so far, whoever has locked it, and
 * has all of that written now. It counts for nothing in the queue; the promise is that of its batch.
 */
export function writePastLock(stream: object, chunk: unknown): Promise<void> {
  const state = writableStreamStateOf(stream)!;
  if (state.state === "erroring" || state.state === "errored") return promiseRejectedWith(state.storedError);
  const { batching } = state.controller;
  if (batching === undefined || writableStreamCloseQueuedOrInFlight(state)) {
    return promiseRejectedWith(endedError("write to", "closed"));
  }
  const written = batching.enqueue(chunk, 0);
  batching.hurry(false);
  return written;
}

/**
 * Takes all chunks that wait out of a stream of batches, in order, for a sink that writes them at once. The promises of
 * their writes settle as if they had been written in their turn.
 */
export function drainBatches(stream: object): unknown[] {
  const { state, controller } = writableStreamStateOf(stream)!;
  if (state !== "writable" || controller.batching === undefined) return [];
  return controller.batching.drain();
}
