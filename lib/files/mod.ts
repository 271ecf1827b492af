/**
 * Files as streams: read in large pieces, written in batches, whole or in series of limited size; and writing files so
 * that their names never hold half of them.
 *
 * @module
 */
export { isAbandonedTemporary, isTemporaryName, temporaryPath } from "./temporary.ts";
export { removeAbandonedTemporaries } from "./remove_abandoned.ts";
export { openFileWritable, type OpenFileWritableOptions } from "./open_file_writable.ts";
export { openFileReadable } from "./open_file_readable.ts";
export { RotatingFileWritable } from "./rotating_file_writable.ts";
export type { RotationOptions } from "./rotation_options.ts";
export { NumberFileWriter, type NumberFileWriterOptions } from "./number_file_writer.ts";
export { copyFileAtomic } from "./copy_file_atomic.ts";
export { AtomicFile, type AtomicFileOptions } from "./atomic_file.ts";
