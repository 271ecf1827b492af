/** The parts of streams that other folders build on. Not part of the public API. */
export { asGlobalStreamPair } from "#streams/host";
export { bytesOf, bytesOfView, isUint8Array, joinBytes } from "./language/bytes.ts";
export {
  anyOf,
  bool,
  bytes,
  changed,
  type Checked,
  func,
  hasMembers,
  integer,
  listOf,
  type Member,
  member,
  milliseconds,
  nested,
  number,
  oneOf,
  positive,
  refuseUnused,
  requireOption,
  type Schema,
  schema,
  type SchemaOf,
  secret,
  signal,
  text,
  wordOrFunction,
  wrongType,
} from "./language/options.ts";
export { asStreamPair } from "./language/native_classes.ts";
export { nearest } from "./language/suggestion.ts";
export { refuseOptions } from "#streams/host";
export { described, quoted } from "#streams/suggestion";
export { Deferred, markAsHandled, queueReaction } from "./language/promises.ts";
export { showInNode } from "#streams/inspection";
export { defineInterface, kindOf } from "./language/webidl.ts";
export type { BatchLimits, BatchReader, BatchRequest } from "./queuing/read_batch.ts";
export { checkedSize } from "./queuing/chunk_queue.ts";
export { endBytes } from "./native/feeds/readable_feed.ts";
export { acquireBatchReader } from "./readable/batch_reader.ts";
export { broadcastReadableStream } from "./readable/broadcast.ts";
/** The class alone: in a page, that of `mod.ts` brings byte streams. */
export { ReadableStream } from "./readable/readable_stream.ts";
export {
  acquireArray,
  ARRAY_LENGTH,
  atEndOfTurn,
  type Context,
  currentContext,
  releaseNumberArray,
  runIn,
} from "./shortcuts/mod.ts";
export { enqueueAll, hasBackpressure, transformRest } from "./transform/enqueue_all.ts";
export { WRITE_PARTS } from "./writable/batches/batched_sink.ts";
export { drainBatches, giveBatchedState, writeAsOwner } from "./writable/batches/batched_writes.ts";
