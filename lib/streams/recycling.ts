/**
 * Sources and transformers of ours between which a pipe passes memory back: a chunk that the one has made, and the other
 * is done with, can be used for another chunk. Nobody else sees such a chunk.
 *
 * @module
 */

/** A source that can use the memory of its chunks again. */
export abstract class RecyclingSource {
  readonly #isRecycling = true;

  /** Takes back a chunk that nobody uses any longer. */
  abstract recycle(chunk: unknown): void;

  /** Whether a value is one; asking cannot be observed. */
  static is(value: unknown): value is RecyclingSource {
    return typeof value === "object" && value !== null && #isRecycling in value;
  }
}

/** A transformer that keeps nothing of a chunk, nor passes it on, once it is transformed. */
export abstract class ReleasingTransformer {
  readonly #isReleasing = true;

  /** Whether a value is one; asking cannot be observed. */
  static is(value: unknown): value is ReleasingTransformer {
    return typeof value === "object" && value !== null && #isReleasing in value;
  }
}
