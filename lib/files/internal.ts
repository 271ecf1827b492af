/**
 * What other folders use, and users do not see.
 *
 * @module
 */
export { OpenFile } from "./open_file.ts";
export { fileFailure } from "./failure.ts";
export { openOutputFile, type OutputFile, type OutputFileOptions } from "./output_file.ts";
