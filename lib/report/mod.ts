/**
 * Reports of runs of `precompress`, as HTML pages and Markdown.
 *
 * @module
 */
export type { Former } from "./changes.ts";
export { htmlReport } from "./html_report.ts";
export { markdownReport } from "./markdown_report.ts";
export { type SiteReport, siteReportOf } from "./site_report.ts";
