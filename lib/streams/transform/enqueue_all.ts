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
  // What a reader waits for, and what user code has a say in, goes chunk by chunk.
  while (next < chunks.length && (reader?.requests.length || readableController.sizeAlgorithm !== undefined)) {
    state.enqueue(chunks[next++]);
  }
  if (next === chunks.length) return;
  checkCanCloseOrEnqueue(readableController, "enqueue");
  enqueueArray(readableController, chunks, next);
  state.updateBackpressure(readableController);
}

/** The transform streams whose aborts are listened to. */
const heard = new WeakSet<TransformStreamState>();

/** Whether the readable end of a transform stream has all that it wants for now. */
export function hasBackpressure(controller: TransformStreamDefaultController<never>): boolean {
  return transformStreamStateOf(controller).backpressure;
}

/**
 * Has an internal transformer called with the rest of its chunk when the readable end wants more: `transform()` must
 * return what this returns. There must be backpressure.
 *
 * The rest is parked as a chunk is that comes while there is backpressure, and the write that is under way ends with it;
 * so does whatever cancels or errors the stream. An abort does not wait until the readable end wants more.
 */
export function transformRest(controller: TransformStreamDefaultController<never>, rest: unknown): Promise<never> {
  const state = transformStreamStateOf(controller);
  if (!heard.has(state)) endAtAbort(state);
  state.write(rest);
  return new NativePromise(() => {}); // of its own: reactions to a shared one would stay for ever
}

function endAtAbort(state: TransformStreamState): void {
  heard.add(state);
  const { signal } = state.writable.controller;
  const end = (): void => state.errorWritableAndUnblockWrite(signal.reason);
  // Once the writable end is erroring: then the write fails, and the abort goes on.
  signal.addEventListener("abort", () => queueReaction(end), { once: true });
}
