import type { Stats } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import type { AtomicFileOptions } from "./atomic_file.ts";
import { keepAttributes } from "./keep_attributes.ts";
import { OpenFile } from "./open_file.ts";

/**
 * Copies a file to a temporary one, with all but its name; the system copies, without a detour through memory. The
 * temporary file is gone if that fails.
 *
 * @param replaced The file that the copy will replace, whose permission bits and owner it gets.
 * @throws {Error} what the file system says, with its `code`.
 */
export async function copyToTemporary(
  source: string,
  temporary: string,
  { mode, mtimeMs }: Pick<AtomicFileOptions, "mode" | "mtimeMs">,
  replaced?: Stats,
): Promise<void> {
  try {
    await copyFile(source, temporary);
    const file = await OpenFile.open(temporary, "r");
    try {
      if (replaced !== undefined) await keepAttributes(file, replaced);
      if (mode !== undefined) await file.chmod(mode & 0o7777);
      if (mtimeMs !== undefined) await file.setModified(mtimeMs);
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first error tells more
    throw error;
  }
}
