// Internal sources and transformers between which a pipe passes memory back, once the chunk's transformer is done.
// User code never gets such a chunk.

/** A source that can use the memory of its chunks again. */
export abstract class RecyclingSource {
  readonly #isRecycling = true;

  /** Takes back an unused chunk. */
  abstract recycle(chunk: unknown): void;

  /** Whether a value is an instance; the check cannot be observed. */
  static is(value: unknown): value is RecyclingSource {
    return typeof value === "object" && value !== null && #isRecycling in value;
  }
}

/** A transformer that neither keeps nor passes on memory of a chunk once it is transformed. */
export abstract class ReleasingTransformer {
  readonly #isReleasing = true;

  /** Whether a value is an instance; the check cannot be observed. */
  static is(value: unknown): value is ReleasingTransformer {
    return typeof value === "object" && value !== null && #isReleasing in value;
  }
}

/** Returns an underlying source that takes back its chunks; undefined for any other. */
export function recyclerOf(source: unknown): RecyclingSource | undefined {
  return RecyclingSource.is(source) ? source : undefined;
}

/** Whether a transformer keeps nothing of its chunks. */
export function releasesChunks(transformer: unknown): boolean {
  return ReleasingTransformer.is(transformer);
}

/** Passes the last chunk of a pipe back to the source once it is written and no other write is pending. */
export class Recycling {
  readonly #recycler: RecyclingSource;
  #last: unknown;

  constructor(recycler: RecyclingSource) {
    this.#recycler = recycler;
  }

  hold(chunk: unknown): void {
    this.#last = chunk;
  }

  giveBack(): void {
    const chunk = this.#last;
    this.#last = undefined;
    if (chunk !== undefined) this.#recycler.recycle(chunk);
  }
}

/** Finds the source that may reuse its chunks' memory, if the pipe's sink keeps none of them. */
export function recyclingBetween(
  { recycler }: { readonly recycler?: RecyclingSource | undefined },
  { releasesChunks }: { readonly releasesChunks?: boolean | undefined },
): Recycling | undefined {
  return recycler !== undefined && releasesChunks ? new Recycling(recycler) : undefined;
}

/** Keeps the chunk that is being written. */
export function trackForReuse(recycling: Recycling | undefined, chunk: unknown): void {
  recycling?.hold(chunk);
}

/** Passes the chunk that was written last back to its source. */
export function recycle(recycling: Recycling | undefined): void {
  recycling?.giveBack();
}
