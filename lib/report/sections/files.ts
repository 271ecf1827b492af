import { html, type Markup } from "../markup.ts";
import type { SiteReport } from "../site_report.ts";

/** The places of the treemap and the table of files, which scripts fill in. */
export function filesSection({ changes }: SiteReport): Markup {
  return html`
    <section aria-labelledby="map">
      <h2 id="map">Where the bytes are</h2>
      <p class="lead">Each area is a file as built; the filled part is left once it is compressed.</p>
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
