/**
 * Internals for other folders, not part of the public API.
 *
 * @module
 */
export { openAtomicFileAt } from "./atomic_file.ts";
export { OpenFile, writeFully } from "./open_file.ts";
export { fileFailure, reasonOf } from "./failure.ts";
export { makeDirectory, makeDirectorySync } from "./make_directory.ts";
export { openOutputFile, type OutputFile, type OutputFileOptions } from "./output_file.ts";
export { copyToTemporary } from "./copy_file_atomic.ts";
export { flushFolder, followedPlace, keepAttributes, type Place, placeItself, takeName } from "./place.ts";
export { pathOption } from "./place.ts";
export { rotationMembers } from "./series/rotation_options.ts";
export { processSpace } from "./temporary.ts";
