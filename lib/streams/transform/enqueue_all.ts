import { NativePromise, queueReaction } from "../language/promises.ts";
import { checkCanCloseOrEnqueue } from "../readable/controller_state.ts";
import { enqueueArray } from "../shortcuts/chunk_array_queue.ts";
import { type TransformStreamDefaultController, transformStreamStateOf } from "./default_controller.ts";
import type { TransformStreamState } from "./transform_state.ts";

/** Enqueues all chunks, with one check, for internal transformers. The array is kept and must not be changed. */
export function enqueueAll<O>(controller: TransformStreamDefaultController<O>, chunks: O[]): void {
  const state = transformStreamStateOf(controller as TransformStreamDefaultController);
  const { readableController } = state;
  const { reader } = state.readable;
  let next = 0;
  // A pending read takes one chunk, and a size function is user code: such chunks are enqueued one by one.
  while (next < chunks.length && (reader?.requests.length || readableController.sizeAlgorithm !== undefined)) {
    state.enqueue(chunks[next++]);
  }
  if (next === chunks.length) return;
  checkCanCloseOrEnqueue(readableController, "enqueue");
  enqueueArray(readableController, chunks, next);
  state.updateBackpressure(readableController);
}

/** The transform streams whose abort signal has a listener. */
const heard = new WeakSet<TransformStreamState>();

/** Whether the readable end of a transform stream has reached its high-water mark. */
export function hasBackpressure(controller: TransformStreamDefaultController<never>): boolean {
  return transformStreamStateOf(controller).backpressure;
}

/**
 * Parks the rest of a chunk until the readable end pulls: `transform()` must return the result of this call. There must
 * be backpressure.
 *
 * The write in flight ends after the rest is enqueued, or when the stream is cancelled or errors, as for a chunk that
 * arrives under backpressure. An abort ends it at once.
 */
export function transformRest(controller: TransformStreamDefaultController<never>, rest: unknown): Promise<never> {
  const state = transformStreamStateOf(controller);
  if (!heard.has(state)) endAtAbort(state);
  state.write(rest);
  return new NativePromise(() => {}); // a new promise each time: reactions to a shared one would stay for ever
}

function endAtAbort(state: TransformStreamState): void {
  heard.add(state);
  const { signal } = state.writable.controller;
  const end = (): void => state.errorWritableAndUnblockWrite(signal.reason);
  // The write fails only once the writable end is erroring, so it ends in a reaction after the abort.
  signal.addEventListener("abort", () => queueReaction(end), { once: true });
}
