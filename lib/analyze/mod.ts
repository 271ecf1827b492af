/**
 * Finds avoidable costs in how a site's files are sent.
 *
 * @module
 */
export { analyze, type AnalyzeOptions, analyzeOptions } from "./analyze.ts";
export { type Analysis, type AnalyzedFile, type Finding, type FindingKind, hints } from "./judge.ts";
