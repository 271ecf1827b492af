// The replacement of `recycling.ts` in browsers: the sources that reuse memory are of files.

/** Nothing takes chunks back. */
export abstract class RecyclingSource {
  abstract recycle(chunk: unknown): void;
}

/** A transformer like any other. */
export abstract class ReleasingTransformer {}

/** Nothing is held between a source and a sink. */
export type Recycling = never;

/** None. */
export function recyclerOf(): undefined {}

/** No matter. */
export function releasesChunks(): undefined {}

/** Nothing. */
export function recyclingBetween(): undefined {}

/** Does nothing. */
export function holdForRecycling(): void {}

/** Does nothing. */
export function recycle(): void {}
