/**
 * Internals for other folders, not part of the public API.
 *
 * @module
 */
export { openAtomicFileAt } from "./atomic_file.ts";
export { OpenFile } from "./open_file.ts";
export { reasonOf } from "./errno.ts";
export { fileFailure } from "./failure.ts";
export { makeDirectory, makeDirectorySync } from "./make_directory.ts";
export { openOutputFile, type OutputFile, type OutputFileOptions } from "./output_file.ts";
export { copyToTemporary } from "./copy_to_temporary.ts";
export { keepAttributes } from "./keep_attributes.ts";
export { flushFolder } from "./flush_folder.ts";
export { followedPlace, type Place, placeItself } from "./place.ts";
export { processSpace } from "./process_space.ts";
export { takeName } from "./take_name.ts";
export { writeFully } from "./write_fully.ts";
