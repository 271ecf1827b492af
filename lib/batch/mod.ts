/**
 * Writers that take one item at a time, and sinks and readers that get all queued items in one call.
 *
 * @example What a pipe brings, in one call
 * ```ts
 * import { BatchedWritableStream } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const words = new BatchedWritableStream<string>({
 *   writev(batch) {
 *     console.log(batch.join(" ")); // mill race
 *   },
 * });
 * await ReadableStream.from(["mill", "race"]).pipeTo(words);
 * ```
 *
 * @module
 */
export {
  type BatchedUnderlyingSink,
  BatchedWritableStream,
  BatchedWriter,
  type FailedChunks,
  type RetryOptions,
} from "./batched_writable_stream.ts";
export { type Branches, broadcast, type BroadcastOptions, SlowBranchError } from "./broadcast.ts";
export { coalesceBytes, type CoalesceBytesOptions } from "./coalesce_bytes.ts";
export { readBatches, type ReadBatchesOptions } from "./read_batches.ts";
