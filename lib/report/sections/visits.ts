import { formatBytes } from "../../quantities/mod.ts";
import { html, LINE, type Markup, visibleName } from "../words.ts";
import type { SiteReport } from "../site_report.ts";
import type { Cost } from "../visits.ts";

/** Makes the section about the costs of a first visit and later ones. */
export function visitsSection({ visit, changes, run }: SiteReport): Markup | undefined {
  if (visit === undefined) return undefined;
  const { page, plain, first, again, update } = visit;
  const news = changes?.former.isDeploy ? "deploy" : "run";
  return html`
    <section aria-labelledby="visits">
      <h2 id="visits">A visit on 4G</h2>
      <p class="lead">Of <bdi class="name">${visibleName(page)}</bdi> and the files that it refers to.</p>
      <dl class="bars visits">
    ${bar("First visit, not compressed", plain, plain)}
    ${bar("First visit", first, plain)}
    ${bar("Back, nothing new", again, plain)}
    ${update && bar(`Back after this ${news}`, update, plain)}
      </dl>
      <p
        class="fine">Reckoned, not measured: a line of ${LINE.megabits} Mbit/s and ${LINE
          .roundTrip} ms there and back, three times there and back to connect (the grey part), and one more for each stage of files whose names are found together. Header fields, the server, and scripts take no time here, and what scripts or other hosts load is not seen. Clients get the smallest variant; immutable files, such as those with a hash in their names, are not asked for again, others are asked for and found unchanged.${run
                .places.previous.length === 0 && changes !== undefined
          ? " With --previous DIR, returning visitors get deltas."
          : ""}</p>
    </section>
  `;
}

/** Makes a timeline of a visit: the connection, then each stage. */
function bar(title: string, { requests, bytes, ms, times }: Cost, whole: Cost): Markup {
  let start = 0;
  const parts = times.map((time, i) => {
    const x = Math.round((start / whole.ms) * 1000);
    start += time;
    const width = Math.max(2, Math.round((start / whole.ms) * 1000) - x - 4);
    return html`
      <rect x="${x}" width="${width}" height="10" class="${i === 0 ? "wait" : "fill"}" />
    `;
  });
  return html`
    <div class="${times === whole.times ? "whole" : "chosen"}">
      <dt>${title}</dt>
      <dd><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect width="1000" height="10" class="track"/>${parts}</svg><span><b>${timed(
        ms,
      )}</b> <small>${formatBytes(bytes)} in ${requests} ${requests === 1 ? "request" : "requests"}</small></span></dd>
    </div>
  `;
}

/** Formats a time, below 2 s in ms, so that visits of small sites can be distinguished. */
function timed(ms: number): string {
  return ms < 1995 ? `${Math.round(ms / 10) * 10} ms` : `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;
}
