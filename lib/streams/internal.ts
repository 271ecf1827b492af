/**
 * What the other folders build streams with. Not part of the public API.
 *
 * @module
 */
export { joinBytes } from "./array_buffers.ts";
export { type Context, currentContext, runIn } from "./async_context.ts";
export { checkedSize } from "./chunk_queue.ts";
export { atEndOfTurn } from "./end_of_turn.ts";
export { currentPause } from "./long_turn.ts";
export { giveBackNumberRun, RUN_LENGTH, takeRun } from "./number_runs.ts";
export { callbackResult, Deferred } from "./promises.ts";
export type { DefaultControllerState } from "./readable/default_controller_state.ts";
export { pullRun, type RunningPipe } from "./readable/pull_run.ts";
export { dequeueSome } from "./run_queue.ts";
export { RecyclingSource, ReleasingTransformer } from "./recycling.ts";
export { giveState } from "./shell.ts";
export { extractHighWaterMark, extractSizeAlgorithm, toStrategy } from "./queuing_strategy.ts";
export { enqueueAll } from "./transform/enqueue_all.ts";
export { type Callback, defineInterface, isObject, kindOf, toCallback, toDictionary } from "./webidl.ts";
export type { Batching } from "./writable/batching.ts";
export {
  createWritableStream,
  type SinkAlgorithms,
  startWritableStreamDefaultController,
  updateBackpressure,
  type WritableControllerState,
  writableStreamDefaultControllerAdvanceQueueIfNeeded,
  writableStreamDefaultControllerErrorIfNeeded,
} from "./writable/controller_state.ts";
export type { WritableStreamState, WriteRequest } from "./writable/stream_state.ts";
