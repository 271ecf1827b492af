import { keepsDelta } from "./rules.ts";

/** The sizes of a file that has a former version. */
export interface DeltaSizes {
  readonly name: string;
  readonly size: number;
  /** The bytes sent to clients without the previous version, by format. */
  readonly sent: { brotli?: number; zstd?: number };
  readonly delta: { brotli?: number; zstd?: number };
}

/** Shows the deltas, a file a row, once all figures of a row are there. */
export function showDeltas(section: HTMLElement, files: readonly DeltaSizes[]): void {
  const rows = files.map(({ name, size, sent, delta }) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head, cellOf(size.toLocaleString("en")));
    for (const format of ["brotli", "zstd"] as const) {
      row.append(cellOf(sent[format]?.toLocaleString("en") ?? ""), cellOf(deltaText(sent[format], delta[format])));
    }
    return row;
  });
  section.querySelector("tbody")!.replaceChildren(...rows);
  section.hidden = rows.length === 0;
}

function deltaText(sent: number | undefined, delta: number | undefined): string {
  if (sent === undefined || delta === undefined) return "";
  return `${delta.toLocaleString("en")}${keepsDelta(sent, delta) ? "" : ", not kept"}`;
}

function cellOf(text: string): HTMLTableCellElement {
  const cell = document.createElement("td");
  cell.className = "number";
  cell.textContent = text;
  return cell;
}
