import { type DeltaFormat, type VariantFormat, variantFormats } from "../../precompress/mod.ts";
import { counted, formatBytes, formatDuration } from "../../quantities/mod.ts";
import { sentSize, type SiteFile, sum } from "../changes.ts";
import { grouped, html, isLoaded, type Markup, percent, saving, visibleName } from "../words.ts";
import type { SiteReport } from "../site_report.ts";

/** Makes the headline: the name of the site, the total saving, and the formats side by side. */
export function headline({ name, run, files, formats }: SiteReport, at: Date): Markup {
  const { report, settings } = run;
  const loaded = files.filter(isLoaded);
  const worth = loaded.filter(({ sizes }) => Object.keys(sizes).length > 0);
  const before = sum(worth.map(({ size }) => size));
  const after = sum(worth.map(sentSize));
  const rest = loaded.length - worth.length;
  const maps = files.length - loaded.length;
  const stored = sum(files.map(({ size, sizes }) => size + sum(Object.values(sizes))));
  const levels = settings.formats.map((format) => `${format} ${settings.levels[format]}`).join(", ");
  return html`
    <header>
      <p class="over">Precompressed with Millrace</p>
      <h1><bdi>${visibleName(name)}</bdi></h1>
      <p class="facts">${dateOf(at)} · ${grouped(files.length)} ${files.length === 1
        ? "file"
        : "files"} · ${levels} · ${formatDuration(report.elapsedMs)}</p>
    </header>
    <section class="headline" aria-labelledby="saved">
    <div>
    <h2 id="saved"><strong>${before === 0 ? "0%" : percent(1 - after / before)}</strong> smaller for visitors</h2>
    <p>${grouped(worth.length)} ${worth.length === 1 ? "file is" : "files are"} worth compressing: <b>${formatBytes(
      before,
    )}</b> become <b>${formatBytes(after)}</b>.${rest > 0
      ? ` ${grouped(rest)} more, of ${formatBytes(sum(loaded.map(({ size }) => size)) - before)}, ${
        rest === 1 ? "is" : "are"
      } left alone.`
      : ""}</p>
    <p><b>${formatBytes(stored)}</b> stored: all files and variants${maps > 0
      ? `, with ${counted(maps, "source map")}, which visitors do not load`
      : ""}.</p>
    <p class="facts">${report.compressed.length} compressed in this run, ${report
      .unchanged} as before${report.removed.length > 0
      ? `, ${counted(report.removed.length, "stale file")} removed`
      : ""}${report.found.length > 0 ? `, ${counted(report.found.length, "variant")} of other tools` : ""}</p>
    </div>
    ${bars(worth, before, formats)}
    </section>
  `;
}

/** Makes a chart of the original sizes and those in each format, the smallest of which most visitors get. */
function bars(worth: readonly SiteFile[], before: number, formats: readonly (VariantFormat | DeltaFormat)[]): Markup {
  const totals = variantFormats.filter((format) => formats.includes(format)).map((format) => ({
    label: format as string,
    bytes: sum(worth.map(({ size, sizes }) => sizes[format] ?? size)),
  }));
  const all = [{ label: "as built", bytes: before }, ...totals.sort((a, b) => b.bytes - a.bytes)];
  return html`<dl class="bars">${
    all.map(({ label, bytes }, i) =>
      html`
        <div class="${i === 0 ? "whole" : i === totals.length ? "chosen" : ""}">
          <dt>${label}</dt>
          <dd><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect width="1000" height="10" class="track"/><rect width="${Math
            .max(
              2,
              Math.round((bytes / (before || 1)) * 1000),
            )}" height="10" class="fill"/></svg><span><b>${formatBytes(
              bytes,
            )}</b> <small>${i === 0 ? "" : saving(before, bytes)}</small></span></dd>
        </div>
      `
    )
  }</dl>`;
}

function dateOf(at: Date): Markup {
  const iso = at.toISOString();
  const day = at.toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return html`<time datetime="${iso}">${day}, ${iso.slice(11, 16)} UTC</time>`;
}
