/**
 * What our other folders build on. Not part of the public API.
 *
 * @module
 */
export { type BatchedTransform, batchedTransform, type TransformBatch } from "./batched_transform.ts";
export { WRITE_PARTS } from "./batched_sink.ts";
