import { checkCanCloseOrEnqueue } from "../readable/controller_state.ts";
import { enqueueRun } from "../shortcuts/run_queue.ts";
import { type TransformStreamDefaultController, transformStreamStateOf } from "./default_controller.ts";

/**
 * Calls `controller.enqueue()` for each chunk, but faster: for transformers of ours that make many of one. What all of
 * them need is asked once, and the array is kept as it is: it must not be changed afterwards.
 */
export function enqueueAll<O>(controller: TransformStreamDefaultController<O>, chunks: O[]): void {
  const state = transformStreamStateOf(controller as TransformStreamDefaultController);
  const { readableController } = state;
  const { reader } = state.readable;
  let next = 0;
  // What a reader waits for, and what user code has a say in, goes chunk by chunk.
  while (next < chunks.length && (reader?.requests.length || readableController.sizeAlgorithm !== undefined)) {
    state.enqueue(chunks[next++]);
  }
  if (next === chunks.length) return;
  checkCanCloseOrEnqueue(readableController, "enqueue");
  enqueueRun(readableController, chunks, next);
  state.updateBackpressure(readableController);
}
