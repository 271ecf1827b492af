/**
 * Files as streams: read in large pieces, and written in batches, atomically or as series of files of limited size; and
 * functions that write and copy files atomically.
 *
 * @example A file's copy, there when it is complete
 * ```ts
 * import { openFileReadable, openFileWritable } from "@millrace/streams/files";
 *
 * const copy = await openFileWritable("access-copy.log", { atomic: true });
 * await (await openFileReadable("access.log")).pipeTo(copy);
 * ```
 *
 * @module
 */
export { isTemporaryName } from "./names.ts";
export { isAbandonedTemporary, removeAbandonedTemporaries, temporaryPath } from "./temporary.ts";
export { type FileWritable, openFileWritable, type OpenFileWritableOptions } from "./file_writable.ts";
export { openFileReadable } from "./open_file_readable.ts";
export { type FollowedReadable, followFile, type FollowFileOptions } from "./follow/follow_file.ts";
export type { FollowPosition } from "./follow/line_place.ts";
export { RotatingFileWritable } from "./series/rotating_file_writable.ts";
export type { RotationOptions } from "./series/rotation_options.ts";
export { NumberFileWriter } from "./series/number_file_writer.ts";
export { copyFileAtomic } from "./copy_file_atomic.ts";
export { AtomicFile, type AtomicFileOptions } from "./atomic_file.ts";
