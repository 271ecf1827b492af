/** The parts of batches that other folders build on. Not part of the public API. */
export { batchedTransform } from "./batched_transform.ts";
