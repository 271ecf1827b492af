import { rename, rm } from "node:fs/promises";
import type { AtomicFileOptions } from "./atomic_file.ts";
import { copyToTemporary } from "./copy_to_temporary.ts";
import { temporaryPath } from "./temporary.ts";

/**
 * Copies a file so that its new name never holds half of it. The system copies, without a detour through memory.
 *
 * @param source The path of the file.
 * @param target The path of the copy; what was there is replaced.
 * @param options `mode`, `mtimeMs` and `temporary`, as of {@linkcode AtomicFile}.
 * @throws {Error} what the file system says, with its `code`.
 * @example A copy with the original's time
 * ```ts
 * import { copyFileAtomic } from "@millrace/streams/files";
 * import { stat } from "node:fs/promises";
 *
 * const { mtimeMs } = await stat("page.html");
 * await copyFileAtomic("page.html", "uploads/page.html", { mtimeMs });
 * ```
 */
export async function copyFileAtomic(
  source: string,
  target: string,
  options: Pick<AtomicFileOptions, "temporary" | "mode" | "mtimeMs"> = {},
): Promise<void> {
  const temporary = options.temporary ?? temporaryPath(target);
  await copyToTemporary(source, temporary, options);
  try {
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
