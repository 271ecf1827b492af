import { Buffer } from "node:buffer";
import { type BigIntStats, constants } from "node:fs";
import { dirname } from "node:path";
import { schema, type SchemaOf } from "../streams/internal.ts";
import { atomicFileMembers, type AtomicFileOptions } from "./atomic_file.ts";
import { codeOf, failing, fileFailure } from "./failure.ts";
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

/** The bytes of one read and write. */
const CHUNK_SIZE = 1024 * 1024;

/**
 * Copies a file to a temporary one, complete except for its name. If that fails, the temporary file is removed.
 *
 * @param options.flush Whether the copy is flushed to the disk. Default: true.
 * @param options.temporary Set if the caller owns the temporary file, which may exist.
 * @param place The place of the file that the copy will replace, whose permission bits and owner the copy gets at the
 * end.
 * @throws {Error} also if the source changed meanwhile, except by appended bytes.
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
  const original = Number(before.mode) & 0o777; // without the setuid and setgid bits
  // Like an AtomicFile: never accessible to more users meanwhile.
  const mode = withoutGroup(options.mode ?? (place && replacedAt(place))?.mode ?? original) | WRITABLE;
  const to =
    await (options.temporary === undefined
      ? OpenFile.open(temporary, "wx+", { mode })
      : openWrittenOver(temporary, constants.O_CREAT, { mode }));
  try {
    await copyBytes(from, before, to).then(() => complete(to, original, options, place)).finally(() => to.close());
  } catch (error) {
    await removeTemporary(temporary); // the first error is more specific
    throw error;
  }
}

/**
 * Copies as many bytes as the file had at the start, or up to its end: files of /proc have the size 0, those of /sys
 * one that is too large. `fs.copyFile` of Node loses the former, and never ends if a file shrinks.
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
    if (size === Infinity) size = from.size() || Infinity; // an ordinary file that was empty before
  }
  const after = from.exactStatus();
  const isAsBefore = after.size === before.size && after.mtimeNs === before.mtimeNs && after.ctimeNs === before.ctimeNs;
  if (isAsBefore && BigInt(copied) !== before.size) return; // a file of /proc or /sys, whose bytes differ at each read
  // Times do not show writes through a mapping, and the time of any write can be set back.
  if (copied < before.size || !await holdsSame(from, to, copied)) {
    throw new Error("it changed while it was copied: try again once it is at rest");
  }
}

/** Whether a file still begins with the bytes of its copy: then it also did when the copy was completed. */
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
  if (replaced !== undefined) keepAttributes(file, replaced);
  if (mode !== undefined) file.chmod(mode & 0o7777);
  else if (replaced === undefined && (file.status().mode & 0o7777) !== original) {
    try {
      file.chmod(original);
    } catch (error) {
      if (codeOf(error) !== "EPERM") throw error; // the file system has no permission bits
    }
  }
  if (mtimeMs !== undefined) file.setModified(mtimeMs);
  if (flush) await file.datasync();
}

type CopyOptions = Pick<AtomicFileOptions, "temporary" | "mode" | "mtimeMs" | "followLinks">;
type CopySettings = ReturnType<typeof copyFileOptions>;

export const copyFileOptions: SchemaOf<CopyOptions, "followLinks"> = /* @__PURE__ */ schema("copyFileAtomic()", () => {
  const { temporary, mode, mtimeMs, followLinks } = atomicFileMembers();
  return { temporary, mode, mtimeMs, followLinks };
});

/**
 * Copies a file so that its new name never refers to a partial copy. If the file grows meanwhile, the copy has at least
 * its initial bytes; a file that changes otherwise is not copied.
 *
 * @param source The path of the file, or its `file:` URL.
 * @param target The path of the copy, or its `file:` URL; an existing file is replaced, and its permission bits are
 * kept.
 * @param options `mode`, `mtimeMs`, `followLinks` and `temporary`, like those of {@linkcode AtomicFile}; without an
 * existing file, the default `mode` is the original's without its setuid and setgid bits.
 * @throws {Error} with both names, the reason why the file cannot be copied, and the system's `code`.
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
  // Windows does not replace open files.
  await copyOpened(source, temporary, options, place).finally(() => source.close());
  try {
    const before = stillReplaceable(place, followLinks);
    await flushFolder(dirname(place.path), () => renameFile(temporary, place.path, { before }));
  } catch (error) {
    await removeTemporary(temporary);
    throw error;
  }
}
