import type { Job, Outcome } from "../job.ts";
import type { Settings } from "../options.ts";
import { explain } from "../problem.ts";
import { type CacheStore, isBucketAddress, type StoredEntry } from "./cache_store.ts";
import { DirectoryStore } from "./directory_store.ts";
import { keyOf, largestVariant, TRAILER_SIZE, trailerBytes } from "./entry.ts";

/**
 * Counts of the variants that a run took from the cache, and added to it.
 *
 * @example How much of a run the cache has saved
 * ```ts
 * import { type CacheReport, precompress } from "@millrace/streams/precompress";
 *
 * const { cache } = await precompress("dist", { cache: "precompressed", formats: ["gzip"] });
 * const { taken, made }: CacheReport = cache!;
 * console.log(taken <= taken + made); // true
 * ```
 */
export interface CacheReport {
  /** The number of variants taken from the cache. */
  readonly taken: number;
  /** The number of variants not found in the cache, and compressed, including those that saved too little. */
  readonly made: number;
  /** The number of entries found in the cache and refused: incomplete, or not a variant of the file. */
  readonly refused: number;
  /** The number of entries removed because of `cacheMaxSize` or `cacheMaxAge`. */
  readonly removed: number;
  /** The reason, if the cache could not be read or written. All variants were still made. */
  readonly problem?: string;
}

type Action = "read" | "write" | "clear";

/** The number of failures of one kind after which the cache is no longer used: each may take as long as a deadline. */
const MAX_FAILURES = 8;

/** The cache of a run. Its failures are reported, but do not fail a variant. */
export class Cache {
  readonly #store: CacheStore;
  #taken = 0;
  #made = 0;
  #refused = 0;
  #removed = 0;
  #problem: string | undefined;
  readonly #failures = { read: 0, write: 0, clear: 0 };

  constructor(store: CacheStore) {
    this.#store = store;
  }

  /** Opens the entry for the output of `job`; undefined if there is none. */
  async find(job: Job): Promise<StoredEntry | undefined> {
    return await this.#attempt("read", () => this.#store.get(keyOf(job), largestVariant(job) + TRAILER_SIZE));
  }

  /** Counts the outcome of `job`, with or without an entry, and stores a new variant as an entry. */
  async settle(job: Job, outcome: Outcome, hadEntry: boolean): Promise<void> {
    if (outcome.state === "failed") return;
    if (outcome.isCached) return void this.#taken++;
    this.#made++;
    if (hadEntry) this.#refused++;
    const { size, sha256 } = outcome;
    if (size === undefined || sha256 === undefined) return;
    const key = keyOf(job);
    await this.#attempt("write", () => this.#store.put(key, job.temporary, trailerBytes({ key, sha256, size })));
  }

  async end(): Promise<CacheReport> {
    this.#removed = await this.#attempt("clear", () => this.#store.end()) ?? 0;
    const [taken, made, refused, removed] = [this.#taken, this.#made, this.#refused, this.#removed];
    return { taken, made, refused, removed, ...(this.#problem !== undefined && { problem: this.#problem }) };
  }

  async close(): Promise<void> {
    await this.#store.close().catch(() => {}); // a failed close has no effect
  }

  async #attempt<T>(action: Action, attempt: () => Promise<T>): Promise<T | undefined> {
    if (this.#failures[action] >= MAX_FAILURES) return undefined;
    try {
      return await attempt();
    } catch (error) {
      this.#failures[action]++;
      this.#problem ??= `cannot ${action} it: ${explain(error)}`;
      return undefined;
    }
  }
}

/** Opens the place of a cache: a folder, by its real path, or the address of a bucket. Throws if it cannot be used. */
export async function openStore(
  cache: string,
  { cacheLimits }: Settings,
  signal: AbortSignal | undefined,
): Promise<CacheStore> {
  if (!isBucketAddress(cache)) return await DirectoryStore.open(cache, cacheLimits);
  const { openBucketStore } = await import("./bucket_store.ts");
  return await openBucketStore(cache, signal);
}
