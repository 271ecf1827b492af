import { formatBytes } from "../../quantities/mod.ts";
import { type ComparedFile, differences, type RemovedFile } from "../changes.ts";
import { grouped, html, type Markup, percent, saving, signed, signedBytes, visibleName } from "../words.ts";
import type { SiteReport, Update } from "../site_report.ts";

/** The maximum number of files to list; the manifests contain all. */
const MAX_ROWS = 40;
/** Makes the section of files that differ, the largest differences first. */
export function changesSection({ changes, updates }: SiteReport): Markup | undefined {
  if (!changes) return undefined;
  const { former, total } = changes;
  const all = differences(changes);
  const count = (kind: string): string => grouped(all.filter(({ change }) => change === kind).length);
  const share = total.before > 0 ? `, ${signed(total.now / total.before - 1)}` : "";
  return html`<section aria-labelledby="changes">
<h2 id="changes">Since the previous ${former.isDeploy ? "deploy" : "run"}</h2>
<p class="lead">${
    all.length === 0
      ? "Nothing has changed."
      : html`<b>${count("changed")}</b> changed, <b>${count("new")}</b> new, <b>${
        count("removed")
      }</b> gone. All files together, as sent: ${formatBytes(total.before)} before, ${formatBytes(total.now)} now (${
        signedBytes(total.now - total.before)
      }${share}).`
  }</p>
${updates.length > 0 ? updatesTable(updates) : undefined}
${all.length > 0 ? table(all.slice(0, MAX_ROWS)) : undefined}
${all.length > MAX_ROWS ? html`<p class="fine">and ${grouped(all.length - MAX_ROWS)} others</p>` : undefined}
</section>`;
}

/** Makes the table of transfers to visitors who have all files of a previous deploy. */
function updatesTable(updates: readonly Update[]): Markup {
  const columns = ["Changed", "With a delta", "Sent without", "Sent", "Deltas save"];
  return html`
    <div class="wide" tabindex="0" role="region" aria-label="Updates by deploy">
      <table>
        <thead>
          <tr><th scope="col">Visitors of</th>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
        </thead>
        <tbody>${updates.map(({ name, changed, hits, plain, bytes }) =>
          html`
            <tr>
              <th scope="row"><bdi>${visibleName(name)}</bdi></th>
              <td>${grouped(changed)}</td>
              <td>${grouped(hits)} (${percent(hits / (changed || 1))})</td>
              <td>${formatBytes(plain)}</td>
              <td>${formatBytes(bytes)}</td>
              <td>${saving(plain, bytes)}</td>
            </tr>
          `
        )}</tbody>
      </table>
    </div>
    <p class="fine">If they have all files of it, and load all that changed or is new but source maps.</p>
  `;
}

function table(files: readonly (ComparedFile | RemovedFile)[]): Markup {
  const columns = ["Change", "Sent before", "Sent now", "Difference"];
  const bytes = (size: number | undefined): string => size === undefined ? "–" : formatBytes(size);
  return html`
    <div class="wide" tabindex="0" role="region" aria-label="Files that changed most">
      <table>
        <thead>
          <tr><th scope="col">File</th>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
        </thead>
        <tbody>${files.map(({ path, change, before, now }) =>
          html`
            <tr>
              <th scope="row"><bdi>${visibleName(path)}</bdi></th>
              <td class="word">${change === "removed" ? "gone" : change}</td>
              <td>${bytes(before)}</td>
              <td>${bytes(now)}</td>
              <td>${signedBytes((now ?? 0) - (before ?? 0))}</td>
            </tr>
          `
        )}</tbody>
      </table>
    </div>
  `;
}
