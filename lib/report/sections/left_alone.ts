import { formatBytes } from "../../quantities/mod.ts";
import { html, type Markup, visibleName } from "../markup.ts";
import { type FileState, type SiteFile, sum } from "../site_file.ts";
import type { SiteReport } from "../site_report.ts";
import { grouped, reasonOf } from "../words.ts";

/** The most files to list for each reason; the table of files has all. */
const MOST = 40;

/** Files without variants by the reason for it. */
export function leftAloneSection({ files, run }: SiteReport): Markup | undefined {
  const byState = new Map<FileState, SiteFile[]>();
  for (const file of files) {
    if (reasonOf(file.state, run) === undefined) continue;
    const group = byState.get(file.state);
    if (group) group.push(file);
    else byState.set(file.state, [file]);
  }
  if (byState.size === 0) return undefined;
  const groups = [...byState].map(([state, group]) => ({ state, group, bytes: sum(group.map(({ size }) => size)) }))
    .sort((a, b) => b.bytes - a.bytes);
  return html`<section aria-labelledby="left">
<h2 id="left">Left alone</h2>
${
    groups.map(({ state, group, bytes }) =>
      html`
        <details>
          <summary><b>${grouped(group.length)}</b> ${group.length === 1 ? "file" : "files"}, ${formatBytes(
            bytes,
          )}: ${reasonOf(state, run)}</summary>
          <ul>${group.toSorted((a, b) => b.size - a.size).slice(0, MOST).map(({ path, size }) =>
            html`<li><bdi class="name">${visibleName(path)}</bdi> <small>${formatBytes(size)}</small></li>\n`
          )}${group.length > MOST ? html`<li>and ${grouped(group.length - MOST)} more</li>` : undefined}</ul>
        </details>\\n
      `
    )
  }${
    run.report.dotfiles > 0
      ? html`<p class="fine">${grouped(run.report.dotfiles)} names that begin with a dot were passed over.</p>`
      : undefined
  }
</section>`;
}
