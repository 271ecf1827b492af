import { opendir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { fileFailure } from "./failure.ts";
import { isAbandonedTemporary, isTemporaryName } from "./temporary.ts";

/** Entries to read at a time: a folder of uploads may have a million. */
const ENTRIES = 256;

/**
 * Removes the temporary files that killed processes left in a folder, but not in those below it: see
 * {@linkcode isAbandonedTemporary} for which these are.
 *
 * @param directory The folder's path.
 * @returns how many were removed.
 * @throws {Error} what the file system says of the folder, or of the first file that it did not let be removed after
 * it removed the others; with its `code`.
 * @example When a server starts
 * ```ts
 * import { removeAbandonedTemporaries } from "@millrace/streams/files";
 *
 * const removed = await removeAbandonedTemporaries("uploads");
 * console.log(removed); // 0
 * ```
 */
export async function removeAbandonedTemporaries(directory: string): Promise<number> {
  const entries = await opendir(directory, { bufferSize: ENTRIES }).catch((error) => {
    throw fileFailure("read the directory", directory, error);
  });
  let removed = 0;
  let failure: Error | undefined;
  for await (const { name } of entries) {
    const path = join(directory, name);
    if (!isTemporaryName(name) || !(await isAbandonedTemporary(path))) continue;
    try {
      await unlink(path);
      removed++;
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT") continue; // another process was faster
      failure ??= fileFailure("remove", path, error);
    }
  }
  if (failure) throw failure;
  return removed;
}
