import { formatBytes } from "../../quantities/mod.ts";
import { html, type Markup } from "../markup.ts";
import { sentSize, type SiteFile, sum } from "../site_file.ts";
import type { SiteReport } from "../site_report.ts";
import { saving } from "../saving.ts";
import { formatName, grouped } from "../words.ts";

/** The kinds of files by their size, the largest first. */
export function typesBySize(files: readonly SiteFile[]): string[] {
  const sizes = new Map<string, number>();
  for (const { type, size } of files) sizes.set(type, (sizes.get(type) ?? 0) + size);
  return [...sizes].sort(([, a], [, b]) => b - a).map(([type]) => type);
}

/** A table of the kinds of files: variants and deltas beside each other. */
export function typesSection({ files, formats }: SiteReport, types: readonly string[]): Markup {
  const rows = types.map((type, i) => row(type, files.filter((file) => file.type === type), i));
  return html`
    <section aria-labelledby="types">
      <h2 id="types">By type</h2>
      <div class="wide" tabindex="0" role="region" aria-label="Sizes by type">
        <table>
          <thead>
            <tr><th scope="col">Type</th><th scope="col">Files</th><th scope="col">As built</th>${formats.map((
              format,
            ) =>
              html`<th scope="col">${formatName(format)}</th>`
            )}<th scope="col">Sent</th><th scope="col">Saved</th></tr>
          </thead>
          <tbody>${rows}</tbody>
          <tfoot>${types.length > 1 ? row("all", files, undefined) : undefined}</tfoot>
        </table>
      </div>
      <p
        class="fine">A file without a variant in a format counts with its own size there; in a column of deltas count the files that have one. Sent is the smallest that a client without dictionaries gets.</p>
    </section>
  `;

  function row(name: string, all: readonly SiteFile[], colour: number | undefined): Markup {
    const before = sum(all.map(({ size }) => size));
    const sent = sum(all.map(sentSize));
    const cells = formats.map((format) => {
      const isDelta = /dc[bz]$/.test(format);
      const having = all.filter(({ sizes }) => sizes[format] !== undefined);
      const total = sum((isDelta ? having : all).map(({ size, sizes }) => sizes[format] ?? size));
      return html`<td>${having.length === 0 ? "–" : formatBytes(total)}</td>`;
    });
    const key = colour === undefined ? undefined : html`<i class="key c${colour % 10}"></i>`;
    return html`<tr><th scope="row">${key}${name}</th><td>${grouped(all.length)}</td><td>${
      formatBytes(before)
    }</td>${cells}<td>${formatBytes(sent)}</td><td>${saving(before, sent)}</td></tr>\n`;
  }
}
