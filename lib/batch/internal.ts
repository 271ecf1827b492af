/** The parts of batches that other folders build on. Not part of the public API. */
export { type BatchedTransform, batchedTransform, type TransformBatch } from "./batched_transform.ts";
