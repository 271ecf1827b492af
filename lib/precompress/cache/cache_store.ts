export interface CacheLimits {
  /** The maximum bytes of all entries together. Default: no limit. */
  readonly maxSize: number | undefined;
  /** The maximum time in ms since an entry was last used. Default: no limit. */
  readonly maxAge: number | undefined;
}

/** Whether a cache is given by an address instead of a path; only addresses of buckets are valid. */
export function isAddress(cache: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(cache);
}

/** Whether a cache is in a bucket, `s3://BUCKET/PREFIX`. */
export function isBucketAddress(cache: string): boolean {
  return cache.startsWith("s3://");
}

/** Splits the address of a cache in a bucket. @throws {TypeError} if it is not a bucket's address. */
export function partsOf(address: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/*$/.exec(address) ?? [];
  if (bucket === undefined) {
    throw new TypeError(`cannot use ${address} as a cache: name a folder, or s3://BUCKET/PREFIX`);
  }
  return { bucket, prefix: prefix ? `${prefix}/` : "" };
}

/** A place that keeps entries by their keys, for the runs of any machine that reach it. */
export interface CacheStore {
  /**
   * Opens the entry of `key`, or returns undefined. The reader verifies the content.
   *
   * @param most The maximum size of an entry in bytes; a larger one may be truncated.
   * @throws {Error} if the place cannot be read.
   */
  get(key: string, most: number): Promise<StoredEntry | undefined>;
  /**
   * Keeps the bytes of the file at `path`, followed by `trailer`, as the entry of `key`, and replaces an existing entry
   * atomically: a reader gets either of the two completely.
   *
   * @throws {Error} if the place cannot be written to.
   */
  put(key: string, path: string, trailer: Uint8Array): Promise<void>;
  /**
   * Ends the run: removes the entries beyond the limits of the place, but only entries that the cache wrote.
   *
   * @returns the number removed.
   */
  end(): Promise<number>;
  /** Releases the place, even if the run did not end. */
  close(): Promise<void>;
}

export interface StoredEntry {
  readonly path: string;
  /** Called once the file was read, or was not needed. */
  release(): Promise<void>;
}

export function entryPath(key: string): string {
  return `${key.slice(0, 2)}/${key.slice(2)}.variant`;
}
