/**
 * The parts of streams that other folders build on. Not part of the public API.
 *
 * @module
 */
export { joinBytes } from "./language/array_buffers.ts";
export { Deferred } from "./language/promises.ts";
export { defineInterface, kindOf } from "./language/webidl.ts";
export { checkedSize } from "./queuing/chunk_queue.ts";
export {
  atEndOfTurn,
  giveBackNumberRun,
  RecyclingSource,
  ReleasingTransformer,
  RUN_LENGTH,
  takeRun,
} from "./shortcuts/mod.ts";
export { enqueueAll } from "./transform/enqueue_all.ts";
export { WRITE_PARTS } from "./writable/batches/batched_sink.ts";
export { giveBatchedState } from "./writable/batches/set_up.ts";
