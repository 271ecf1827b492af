import { counted, formatBytes } from "../../quantities/mod.ts";
import { sentSize, type SiteFile, sum } from "../changes.ts";
import { formatName, grouped, html, type Markup, reasonOf, saving, visibleName } from "../words.ts";
import type { SiteReport } from "../site_report.ts";

/** Returns the kinds of files by total size, largest first. */
export function typesBySize(files: readonly SiteFile[]): string[] {
  const sizes = new Map<string, number>();
  for (const { type, size } of files) sizes.set(type, (sizes.get(type) ?? 0) + size);
  return [...sizes].sort(([, a], [, b]) => b - a).map(([type]) => type);
}

/** Makes the table of kinds of files, with variants and deltas side by side. */
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
      const isDelta = /dc[bz]/.test(format);
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

/** Makes the section with the numbers of files without variants, by reason. */
export function leftAloneSection({ files, run }: SiteReport): Markup | undefined {
  const without = files.filter(({ state }) => reasonOf(state, run) !== undefined);
  if (without.length === 0) return undefined;
  const groups = [...Map.groupBy(without, ({ state }) => state)].map(([state, group]) => {
    return { reason: reasonOf(state, run)!, count: group.length, bytes: sum(group.map(({ size }) => size)) };
  });
  const { dotfiles } = run.report;
  return html`<section aria-labelledby="left">
<h2 id="left">Left alone</h2>
<ul>${
    groups.sort((a, b) => b.bytes - a.bytes).map(({ reason, count, bytes }) =>
      html`<li><b>${grouped(count)}</b> ${count === 1 ? "file" : "files"}, ${formatBytes(bytes)}: ${reason}</li>\n`
    )
  }</ul>
${
    dotfiles > 0
      ? html`<p class="fine">${grouped(dotfiles)} names that begin with a dot were passed over.</p>`
      : undefined
  }
</section>`;
}

export function problemsSection({ run }: SiteReport): Markup | undefined {
  const { problems } = run.report;
  if (problems.length === 0) return undefined;
  return html`
    <section class="problems" aria-labelledby="problems">
      <h2 id="problems">${counted(problems.length, "problem")}</h2>
      <ul>${problems.map(({ path, message }) =>
        html`<li><bdi class="name">${visibleName(path)}</bdi> ${visibleName(message)}</li>\n`
      )}</ul>
    </section>
  `;
}

/** Makes the placeholders for the treemap and the table of files, which scripts fill. */
export function filesSection({ changes }: SiteReport): Markup {
  return html`
    <section aria-labelledby="map">
      <h2 id="map">Where the bytes are</h2>
      <p
        class="lead">Each area is a file as built; the filled part is left once it is compressed. Source maps are left out.</p>
      <div id="treemap" role="group" aria-label="Files by size; arrow keys move, Enter finds the file in the table"></div>
      <p id="pointed" class="pointed" role="status"></p>
    </section>
    <section aria-labelledby="files">
      <h2 id="files">Files</h2>
      <form id="filters" role="search" aria-label="Files">
    <label>Find <input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="part of a path"></label>
    <label>Type <select id="type"></select></label>
    <label>Outcome <select id="note"></select></label>
    ${changes && html`<label>Change <select id="change"></select></label>`}
    <output id="count" for="find type note"></output>
      </form>
      <div id="table"><noscript><p>The treemap and this table need scripts.</p></noscript></div>
    </section>
  `;
}
