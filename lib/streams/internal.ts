/**
 * The parts of streams that other folders build on. Not part of the public API.
 *
 * @module
 */
export { joinBytes } from "./language/array_buffers.ts";
export { described, quoted } from "./language/described.ts";
export { requireKnown } from "./language/known_options.ts";
export { Deferred } from "./language/promises.ts";
export { bytesOfView } from "./language/view_bytes.ts";
export { defineInterface, kindOf } from "./language/webidl.ts";
export type { BatchLimits } from "./queuing/gathered_batch.ts";
export { checkedSize } from "./queuing/chunk_queue.ts";
export { acquireBatchReader } from "./readable/batch_reader.ts";
export type { BatchReader, BatchRequest } from "./queuing/batch_requests.ts";
export { broadcastReadableStream } from "./readable/broadcast.ts";
export {
  atEndOfTurn,
  type Context,
  currentContext,
  giveBackNumberRun,
  RecyclingSource,
  ReleasingTransformer,
  RUN_LENGTH,
  runIn,
  takeRun,
} from "./shortcuts/mod.ts";
export { enqueueAll } from "./transform/enqueue_all.ts";
export { hasBackpressure, transformRest } from "./transform/transform_rest.ts";
export { WRITE_PARTS } from "./writable/batches/batched_sink.ts";
export { drainBatches, writePastLock } from "./writable/batches/past_lock.ts";
export { giveBatchedState } from "./writable/batches/set_up.ts";
