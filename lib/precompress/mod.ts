/**
 * Compresses a folder's files ahead of serving.
 *
 * @example After a build, with the former deploy at hand
 * ```ts
 * import { precompress } from "@millrace/streams/precompress";
 *
 * const report = await precompress("dist", { previous: "dist-deployed" });
 * for (const { path, message } of report.problems) console.error(`${path}: ${message}`);
 * ```
 *
 * @module
 */
export type { CacheReport } from "./cache/cache.ts";
export { type CleanOptions, cleanPrecompressed, type CleanReport } from "./clean.ts";
export type { DictionaryRecord, FileRecord, Manifest, VariantRecord } from "./records.ts";
export { manifestName, readManifest } from "./manifest.ts";
export { type DeltaFormat, extensions, type SiteDeltaFormat, type VariantFormat, variantFormats } from "./formats.ts";
export type { PrecompressOptions, PrecompressProgress } from "./options.ts";
export { precompress } from "./precompress.ts";
export type { Problem } from "./problem.ts";
export type { PrecompressReport, TypeSummary } from "./report.ts";
