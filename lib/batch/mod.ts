/**
 * Writers that take one item at a time, and sinks that get everything that queued up in one call.
 *
 * @example
 * ```ts
 * import { BatchedWritableStream } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const lines = new BatchedWritableStream<string>({ writev: (batch) => console.log(batch.join(" ")) });
 * await ReadableStream.from(["mill", "race"]).pipeTo(lines); // mill race
 * ```
 *
 * @module
 */
export { type BatchedUnderlyingSink, BatchedWritableStream } from "./batched_writable_stream.ts";
export { coalesceBytes, type CoalesceBytesOptions } from "./coalesce_bytes.ts";
