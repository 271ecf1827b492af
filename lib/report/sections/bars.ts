import { formatBytes } from "../../quantities/mod.ts";
import { html, type Markup } from "../markup.ts";
import { saving } from "../saving.ts";

/** A bar of a chart. */
export interface Bar {
  readonly label: string;
  readonly bytes: number;
  /** The words behind its size; by default what it saves of the first. */
  readonly note?: string;
  /** Whether it is the one to look at. */
  readonly isChosen?: boolean;
}

/** A chart of sizes; the first bar is that which the others are compared with. */
export function bars(all: readonly Bar[]): Markup {
  const whole = all[0]?.bytes || 1;
  return html`<dl class="bars">${
    all.map(({ label, bytes, note, isChosen }, i) =>
      html`
        <div class="${i === 0 ? "whole" : isChosen ? "chosen" : ""}">
          <dt>${label}</dt>
          <dd><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect width="1000" height="10" class="track"/><rect width="${Math
            .max(2, Math.round((bytes / whole) * 1000))}" height="10" class="fill"/></svg><span><b>${formatBytes(
              bytes,
            )}</b> <small>${note ?? (i === 0 ? "" : saving(whole, bytes))}</small></span></dd>
        </div>
      `
    )
  }</dl>`;
}
