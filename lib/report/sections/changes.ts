import { formatBytes } from "../../quantities/mod.ts";
import { type ComparedFile, differences, type RemovedFile, updateSize } from "../changes.ts";
import { grouped, html, type Markup, saving, signed, signedBytes, visibleName } from "../words.ts";
import type { SiteReport } from "../site_report.ts";

/** Files to show at once. */
const SHOWN = 20;
/** The most to list: the manifests have all. */
const MOST = 200;

/** Files that differ from before, those that differ most first. */
export function changesSection({ changes, files }: SiteReport): Markup | undefined {
  if (!changes) return undefined;
  const { former, total } = changes;
  const all = differences(changes);
  const count = (kind: string): string => grouped(all.filter(({ change }) => change === kind).length);
  const share = total.before > 0 ? `, ${signed(total.now / total.before - 1)}` : "";
  const deltas = new Map(
    files.filter(({ sizes }) => sizes.dcb ?? sizes.dcz).map((file) => [file.path, updateSize(file)]),
  );
  const list = (listed: typeof all, name: string): Markup => table(listed, deltas, name);
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
${all.length > 0 ? list(all.slice(0, SHOWN), "Files that changed most") : undefined}
${
    all.length > SHOWN
      ? html`<details><summary>${grouped(all.length - SHOWN)} more</summary>${
        list(all.slice(SHOWN, MOST), "More changed files")
      }${all.length > MOST ? html`<p class="fine">and ${grouped(all.length - MOST)} others</p>` : undefined}</details>`
      : undefined
  }
</section>`;
}

function table(
  files: readonly (ComparedFile | RemovedFile)[],
  deltas: ReadonlyMap<string, number>,
  name: string,
): Markup {
  const hasDeltas = deltas.size > 0;
  const columns = ["Change", "Sent before", "Sent now", "Difference", ...hasDeltas ? ["As delta", "Delta saves"] : []];
  const bytes = (size: number | undefined): string => size === undefined ? "–" : formatBytes(size);
  return html`
    <div class="wide" tabindex="0" role="region" aria-label="${name}">
      <table>
        <thead>
          <tr><th scope="col">File</th>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr>
        </thead>
        <tbody>${files.map(({ path, change, before, now }) => {
          const delta = deltas.get(path);
          const saved = delta === undefined || !now ? "–" : saving(now, delta);
          return html`<tr><th scope="row"><bdi>${visibleName(path)}</bdi></th><td class="word">${
            change === "removed" ? "gone" : change
          }</td><td>${bytes(before)}</td><td>${bytes(now)}</td><td>${signedBytes((now ?? 0) - (before ?? 0))}</td>${
            hasDeltas
              ? html`
                <td>${bytes(delta)}</td>
                <td>${saved}</td>
              `
              : undefined
          }</tr>\n`;
        })}</tbody>
      </table>
    </div>
  `;
}
