// The counterpart of `recycling.ts` for browsers, where no source reuses memory.

/** The base of no class in browsers: no chunk is taken back. */
export abstract class RecyclingSource {
  abstract recycle(chunk: unknown): void;
}

/** A transformer without special treatment. */
export abstract class ReleasingTransformer {}

/** The type of no value: nothing is recycled. */
export type Recycling = never;

/** None. */
export function recyclerOf(): undefined {}

/** No matter. */
export function releasesChunks(): undefined {}

/** Nothing. */
export function recyclingBetween(): undefined {}

/** Does nothing. */
export function trackForReuse(): void {}

/** Does nothing. */
export function recycle(): void {}
