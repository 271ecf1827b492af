/**
 * Finds what a site's files cost that they need not.
 *
 * @module
 */
export { analyze, type AnalyzeOptions } from "./analyze.ts";
export type { Analysis, AnalyzedFile } from "./analysis.ts";
export { type Finding, type FindingKind, hints } from "./finding.ts";
