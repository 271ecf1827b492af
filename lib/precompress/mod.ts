/**
 * Compresses a folder's files ahead of serving.
 *
 * @module
 */
export { cleanPrecompressed } from "./clean.ts";
export type { DictionaryRecord, FileRecord, Manifest, VariantRecord } from "./manifest.ts";
export { manifestName, readManifest } from "./manifest.ts";
export {
  type DeltaFormat,
  extensions,
  type PrecompressOptions,
  type PrecompressProgress,
  type VariantFormat,
  variantFormats,
} from "./options.ts";
export { precompress } from "./precompress.ts";
export type { Problem } from "./problem.ts";
export type { PrecompressReport, TypeSummary } from "./report.ts";
