import { counted } from "../../quantities/mod.ts";
import { html, type Markup, visibleName } from "../markup.ts";
import type { SiteReport } from "../site_report.ts";

/** Files that could not be handled. */
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
