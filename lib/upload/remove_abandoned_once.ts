import { removeAbandonedTemporaries } from "../files/mod.ts";

/** Most folders to remember: beyond, the oldest is looked at again. */
const MOST = 1000;

const seen = new Set<string>();

/**
 * Removes, in the background, what uploads of killed processes left in a folder, when it is asked for the first time.
 * That it fails is no fault of an upload.
 */
export function removeAbandonedOnce(folder: string): void {
  if (seen.has(folder)) return;
  seen.add(folder);
  if (seen.size > MOST) seen.delete(seen.values().next().value!);
  removeAbandonedTemporaries(folder).catch(() => {});
}
