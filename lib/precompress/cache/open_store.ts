import type { Settings } from "../options.ts";
import { isBucketAddress } from "./bucket_address.ts";
import type { CacheStore } from "./cache_store.ts";
import { DirectoryStore } from "./directory_store.ts";

/**
 * Opens the place of a cache: a folder, by its real path, or the address of a bucket.
 *
 * @throws {TypeError | Error} if it cannot be used.
 */
export async function openStore(
  cache: string,
  { cacheLimits }: Settings,
  signal: AbortSignal | undefined,
): Promise<CacheStore> {
  if (!isBucketAddress(cache)) return await DirectoryStore.open(cache, cacheLimits);
  const { openBucketStore } = await import("./bucket_store.ts");
  return await openBucketStore(cache, signal);
}
