/**
 * Finds what a site's files cost that they need not.
 *
 * @module
 */
export { analyze, type AnalyzeOptions, analyzeOptions } from "./analyze.ts";
export { type Analysis, type AnalyzedFile, type Finding, type FindingKind, hints } from "./judge.ts";
