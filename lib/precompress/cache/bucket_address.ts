/** Whether a cache is one in a bucket, `s3://BUCKET/PREFIX`, and no folder. */
export function isBucketAddress(cache: string): boolean {
  return cache.startsWith("s3://");
}
