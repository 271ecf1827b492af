import { Buffer } from "node:buffer";
import { type BigIntStats, constants } from "node:fs";
import { dirname } from "node:path";
import { schema, type SchemaOf } from "../streams/internal.ts";
import { atomicFileMembers, type AtomicFileOptions } from "./atomic_file.ts";
import { failing, fileFailure } from "./failure.ts";
import { flushFolder } from "./flush.ts";
import { filePath } from "./names.ts";
import { OpenFile } from "./open_file.ts";
import { writeFully } from "./write_fully.ts";
import {
  followedPlace,
  keepAttributes,
  type Place,
  placeItself,
  replacedAt,
  requireReplaceable,
  stillReplaceable,
  temporaryBeside,
  withoutGroup,
} from "./place.ts";
import { renameFile, WRITABLE } from "./rename.ts";
import { openWrittenOver, removeTemporary, requireOther } from "./temporary.ts";

/** Bytes of one read and write. */
const CHUNK_SIZE = 1024 * 1024;

/**
 * Copies a file to a temporary one, with all but its name. The temporary file is gone if that fails.
 *
 * @param options.flush Whether the copy is flushed to the disk. Default: true.
 * @param options.temporary Set if the temporary file is a caller's, and may exist.
 * @param place Of the file that the copy will replace, whose permission bits and owner it gets, as they are at the end.
 * @throws {Error} also if the source was changed meanwhile, other than by bytes behind its end.
 */
export async function copyToTemporary(
  source: string,
  temporary: string,
  options: Pick<AtomicFileOptions, "mode" | "mtimeMs" | "flush" | "temporary">,
  place?: Place,
): Promise<void> {
  const from = await OpenFile.openRegular(source);
  await copyOpened(from, temporary, options, place).finally(() => from.close());
}

async function copyOpened(
  from: OpenFile,
  temporary: string,
  options: Pick<AtomicFileOptions, "mode" | "mtimeMs" | "flush" | "temporary">,
  place: Place | undefined,
): Promise<void> {
  const before = from.exactStatus();
  const original = Number(before.mode) & 0o777; // not those bits that run it with its owner's rights
  // As of an AtomicFile: never open to more users meanwhile.
  const mode = withoutGroup(options.mode ?? (place && replacedAt(place))?.mode ?? original) | WRITABLE;
  const to =
    await (options.temporary === undefined
      ? OpenFile.open(temporary, "wx+", { mode })
      : openWrittenOver(temporary, constants.O_CREAT, { mode }));
  try {
    await copyBytes(from, before, to).then(() => complete(to, original, options, place)).finally(() => to.close());
  } catch (error) {
    await removeTemporary(temporary); // the first error tells more
    throw error;
  }
}

/**
 * Copies as many bytes as the file has at first, or those up to its end: files of /proc have a size of 0, those of /sys one
 * that is too large. `fs.copyFile` of Node loses the former, and never ends if a file gets shorter.
 */
async function copyBytes(from: OpenFile, before: BigIntStats, to: OpenFile): Promise<void> {
  let size = Number(before.size) || Infinity;
  const buffer = new Uint8Array(Buffer.allocUnsafeSlow(Math.min(size, CHUNK_SIZE)).buffer);
  let copied = 0;
  while (copied < size) {
    const length = await from.read(buffer.subarray(0, Math.min(size - copied, CHUNK_SIZE)));
    if (length === 0) break;
    await writeFully(to, [buffer.subarray(0, length)]);
    copied += length;
    if (size === Infinity) size = from.size() || Infinity; // an ordinary file that was empty until then
  }
  const after = from.exactStatus();
  const isAsBefore = after.size === before.size && after.mtimeNs === before.mtimeNs && after.ctimeNs === before.ctimeNs;
  if (isAsBefore && BigInt(copied) !== before.size) return; // of /proc or /sys, with other bytes at each look
  // No time shows what is written through a mapping, and any time of a write can be set back.
  if (copied < before.size || !await holdsSame(from, to, copied)) {
    throw new Error("it changed while it was copied: try again once it is at rest");
  }
}

/** Whether a file still begins with the bytes of its copy: then it did so when the copy was complete, too. */
async function holdsSame(from: OpenFile, to: OpenFile, size: number): Promise<boolean> {
  const [original, copy] = [from, to].map(() => Buffer.allocUnsafeSlow(Math.min(size, CHUNK_SIZE)));
  for (let at = 0; at < size;) {
    const wanted = Math.min(size - at, CHUNK_SIZE);
    const length = await from.read(original.subarray(0, wanted), at);
    if (length === 0 || await to.read(copy.subarray(0, length), at) !== length) return false;
    if (!original.subarray(0, length).equals(copy.subarray(0, length))) return false;
    at += length;
  }
  return true;
}

async function complete(
  file: OpenFile,
  original: number,
  { mode, mtimeMs, flush = true }: AtomicFileOptions,
  place: Place | undefined,
): Promise<void> {
  const replaced = place && replacedAt(place);
  if (replaced !== undefined) await keepAttributes(file, replaced);
  if (mode !== undefined) await file.chmod(mode & 0o7777);
  else if (replaced === undefined && (file.status().mode & 0o7777) !== original) {
    await file.chmod(original).catch((error) => {
      if (error.code !== "EPERM") throw error; // a file system without permission bits
    });
  }
  if (mtimeMs !== undefined) await file.setModified(mtimeMs);
  if (flush) await file.datasync();
}

type CopyOptions = Pick<AtomicFileOptions, "temporary" | "mode" | "mtimeMs" | "followLinks">;
type CopySettings = ReturnType<typeof copyFileOptions>;

export const copyFileOptions: SchemaOf<CopyOptions, "followLinks"> = /* @__PURE__ */ schema("copyFileAtomic()", () => {
  const { temporary, mode, mtimeMs, followLinks } = atomicFileMembers();
  return { temporary, mode, mtimeMs, followLinks };
});

/**
 * Copies a file so that its new name never holds half of it. Of a file that grows meanwhile it has a beginning, no shorter
 * than the file was; one that changes otherwise is not copied.
 *
 * @param source The path of the file, or its `file:` URL.
 * @param target The path of the copy, or its `file:` URL; a file that was there is replaced, and its permission bits stay.
 * @param options `mode`, `mtimeMs`, `followLinks` and `temporary`, as of {@linkcode AtomicFile}; where there was no file,
 * the `mode` is the original's by default, but for the bits that run it with its owner's rights.
 * @throws {Error} that names both and says why it cannot be copied, with the system's `code`.
 * @throws {TypeError} if a path or an option is of another type, or the temporary file is the source or the target.
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
  if (settings.temporary !== undefined) await requireOther(settings.temporary, { source: from, target: to });
  const file = await OpenFile.openRegular(from).catch(failing("read", from));
  try {
    await copyTo(settings.followLinks ? followedPlace(to) : placeItself(to), file, settings);
  } catch (error) {
    throw fileFailure(`copy ${from} to`, to, error);
  } finally {
    await file.close();
  }
}

async function copyTo(place: Place, source: OpenFile, { followLinks, ...options }: CopySettings): Promise<void> {
  requireReplaceable(place);
  const temporary = options.temporary ?? temporaryBeside(place.path);
  await copyOpened(source, temporary, options, place).finally(() => source.close()); // Windows replaces no open file
  try {
    const before = stillReplaceable(place, followLinks);
    await flushFolder(dirname(place.path), () => renameFile(temporary, place.path, { before }));
  } catch (error) {
    await removeTemporary(temporary);
    throw error;
  }
}
