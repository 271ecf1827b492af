import type { Stats } from "node:fs";
import { chmod, copyFile, lstat, stat } from "node:fs/promises";
import { schema, type SchemaOf } from "../streams/internal.ts";
import { atomicFileMembers, type AtomicFileOptions, requireOther } from "./atomic_file.ts";
import { fileFailure } from "./failure.ts";
import { OpenFile } from "./open_file.ts";
import { filePath, followedPlace, keepAttributes, type Place, placeItself, requireReplaceable } from "./place.ts";
import { renameFile, WRITABLE } from "./rename.ts";
import { removeTemporary, temporaryPath } from "./temporary.ts";

/**
 * Copies a file to a temporary one, with all but its name; the system copies, without a detour through memory. The
 * temporary file is gone if that fails.
 *
 * @param options.flush Whether the copy is flushed to the disk. Default: true.
 * @param replaced The file that the copy will replace, whose permission bits and owner it gets.
 */
export async function copyToTemporary(
  source: string,
  temporary: string,
  { mode, mtimeMs, flush = true }: Pick<AtomicFileOptions, "mode" | "mtimeMs" | "flush">,
  replaced?: Stats,
): Promise<void> {
  try {
    await copyFile(source, temporary);
    // The system copies the source's permissions, too, and Windows flushes only what may be written to.
    const copied = (await lstat(temporary)).mode & 0o7777;
    const isReadOnly = (copied & WRITABLE) === 0;
    if (isReadOnly) await chmod(temporary, copied | WRITABLE);
    const file = await OpenFile.open(temporary, "r+");
    try {
      if (replaced !== undefined) await keepAttributes(file, replaced);
      if (mode !== undefined) await file.chmod(mode & 0o7777);
      else if (isReadOnly && replaced === undefined) await file.chmod(copied);
      if (mtimeMs !== undefined) await file.setModified(mtimeMs);
      if (flush) await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await removeTemporary(temporary); // the first error tells more
    throw error;
  }
}

type CopyOptions = Pick<AtomicFileOptions, "temporary" | "mode" | "mtimeMs" | "followLinks">;

export const copyFileOptions: SchemaOf<CopyOptions, "followLinks"> = /* @__PURE__ */ schema("copyFileAtomic()", () => {
  const { temporary, mode, mtimeMs, followLinks } = atomicFileMembers();
  return { temporary, mode, mtimeMs, followLinks };
});

/**
 * Copies a file so that its new name never holds half of it. The system copies, without a detour through memory.
 *
 * @param source The path of the file, or its `file:` URL.
 * @param target The path of the copy, or its `file:` URL; a file that was there is replaced, and its permission bits stay.
 * @param options `mode`, `mtimeMs`, `followLinks` and `temporary`, as of {@linkcode AtomicFile}; where there was no file,
 * the `mode` is the original's by default.
 * @throws {Error} that names both and says why it cannot be copied, with the system's `code`.
 * @throws {TypeError} if a path or an option is none, or the temporary file is the source or the target.
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
  source: string | URL,
  target: string | URL,
  options: Pick<AtomicFileOptions, "temporary" | "mode" | "mtimeMs" | "followLinks"> = {},
): Promise<void> {
  const settings = copyFileOptions(options);
  const [from, to] = [filePath(source, "the source"), filePath(target, "the target")];
  const status = await stat(from).catch((error) => {
    throw fileFailure("read", from, error);
  });
  // A pipe's end may never come.
  if (!status.isFile()) {
    throw Object.assign(new Error(`Cannot copy ${from}: it is no regular file`), { code: "EINVAL" });
  }
  if (settings.temporary !== undefined) await requireOther(settings.temporary, { source: from, target: to });
  try {
    await copyTo(settings.followLinks ? followedPlace(to) : placeItself(to), from, settings);
  } catch (error) {
    throw fileFailure(`copy ${from} to`, to, error);
  }
}

async function copyTo(place: Place, source: string, options: CopyOptions): Promise<void> {
  requireReplaceable(place);
  const temporary = options.temporary ?? temporaryPath(place.path);
  const kept = place.status?.isFile() ? place.status : undefined;
  await copyToTemporary(source, temporary, options, kept);
  try {
    await renameFile(temporary, place.path);
  } catch (error) {
    await removeTemporary(temporary);
    throw error;
  }
}
