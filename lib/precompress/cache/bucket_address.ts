/** Whether a cache is one in a bucket, `s3://BUCKET/PREFIX`, and no folder. */
export function isBucketAddress(cache: string): boolean {
  return cache.startsWith("s3://");
}

/**
 * Splits the address of a cache in a bucket.
 *
 * @throws {TypeError} if it names none.
 */
export function partsOf(address: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/*$/.exec(address) ?? [];
  if (bucket === undefined) throw new TypeError(`cannot use ${address} as a cache: use s3://BUCKET/PREFIX`);
  return { bucket, prefix: prefix ? `${prefix}/` : "" };
}

/** @throws {TypeError} if `cache` is neither the path of a folder nor the address of a bucket. */
export function requireCachePlace(cache: string): void {
  if (isBucketAddress(cache)) partsOf(cache);
  else if (/^[a-z][a-z0-9+.-]+:\/\//i.test(cache)) {
    throw new TypeError(`cannot use ${cache} as a cache: name a folder, or s3://BUCKET/PREFIX`);
  }
}
