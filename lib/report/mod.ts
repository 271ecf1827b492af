/**
 * Reports of runs of `precompress`, for people to look at.
 *
 * @module
 */
export type { Former } from "./changes.ts";
export { htmlReport } from "./html_report.ts";
export { markdownReport } from "./markdown_report.ts";
export { type SiteReport, siteReportOf } from "./site_report.ts";
