import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { html, Markup, visibleName } from "./words.ts";
import { script, style } from "./page_assets.ts";
import { type PageData, pageDataOf } from "./page/files.ts";
import { changesSection } from "./sections/changes.ts";
import { filesSection, leftAloneSection, problemsSection, typesBySize, typesSection } from "./sections/files.ts";
import { headline } from "./sections/headline.ts";
import { visitsSection } from "./sections/visits.ts";
import type { SiteReport } from "./site_report.ts";

/** Makes a self-contained page about a run; its content security policy permits only the page's own scripts. */
export function htmlReport(report: SiteReport, at: Date): string {
  const types = typesBySize(report.files);
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const data: PageData = pageDataOf(report, types);
  const packed = deflateRawSync(JSON.stringify(data), { level: 9 }).toString("base64");
  const { text } = html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="${policy}">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <title>${visibleName(report.name)}, precompressed</title>
        <link rel="icon" href="data:,">
        <style>${new Markup(style)}</style>
      </head>
      <body>
        <main>
    ${headline(report, at)}
    ${problemsSection(report)}
    ${visitsSection(report)}
    ${typesSection(report, types)}
    ${filesSection(report)}
    ${changesSection(report)}
    ${leftAloneSection(report)}
        </main>
        <script type="text/plain" id="data">${packed}</script>
        <script>${new Markup(script)}</script>
      </body>
    </html>
  `;
  return text;
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
