import { copyFile, open, rm } from "node:fs/promises";
import type { AtomicFileOptions } from "./atomic_file.ts";

/**
 * Copies a file to a temporary one, with all but its name; the system copies, without a detour through memory. The
 * temporary file is gone if that fails.
 *
 * @throws {Error} what the file system says, with its `code`.
 */
export async function copyToTemporary(
  source: string,
  temporary: string,
  { mode, mtimeMs }: Pick<AtomicFileOptions, "mode" | "mtimeMs">,
): Promise<void> {
  try {
    await copyFile(source, temporary);
    const handle = await open(temporary, "r");
    try {
      if (mode !== undefined) await handle.chmod(mode & 0o7777);
      if (mtimeMs !== undefined) await handle.utimes(mtimeMs / 1000, mtimeMs / 1000);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first error tells more
    throw error;
  }
}
