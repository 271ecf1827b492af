/**
 * Writing files so that their names never hold half of them.
 *
 * @module
 */
export { isAbandonedTemporary, isTemporaryName, temporaryPath } from "./temporary.ts";
export { openFileWritable, type OpenFileWritableOptions } from "./open_file_writable.ts";
export { openFileReadable } from "./open_file_readable.ts";
export { copyFileAtomic } from "./copy_file_atomic.ts";
export { AtomicFile, type AtomicFileOptions } from "./atomic_file.ts";
