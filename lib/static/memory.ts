import type { Representation } from "./representation.ts";

/** What has more bytes than this is read from its file for each response. */
export const SMALL_BODY: number = 64 * 1024;

/**
 * Those to be kept in memory: none larger than 64 KiB, the smallest first, so that the most requests are answered
 * without the file system, up to `limit` bytes in all.
 */
export function chooseForMemory(representations: Iterable<Representation>, limit: number): Set<Representation> {
  const small: Representation[] = [];
  for (const representation of representations) {
    if (representation.size <= SMALL_BODY) small.push(representation);
  }
  small.sort((a, b) => a.size - b.size);
  const chosen = new Set<Representation>();
  let total = 0;
  for (const representation of small) {
    total += representation.size;
    if (total > limit) break;
    chosen.add(representation);
  }
  return chosen;
}
