/** A table of a section. */
export interface Table {
  /** The last line of prose before it, without its colon. */
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What one run of one scenario wrote to `RESULTS.md`. */
export interface Section {
  /** The scenario, as in `streams`. */
  readonly topic: string;
  /** The runtime without its version, as in `Node`; empty if the title names none. */
  readonly runtime: string;
  /** The runtime with the version it had in this run, as in `Node 26.10.0`; empty if the section does not tell. */
  readonly version: string;
  readonly tables: readonly Table[];
}

/** The runtimes in the order in which all plots show them. */
export const RUNTIMES: readonly string[] = ["Node", "Bun", "Deno"];

function cellsOf(line: string): string[] {
  return line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

function readTables(lines: readonly string[]): Table[] {
  const tables: Table[] = [];
  let caption = "";
  for (let i = 0; i < lines.length; i++) {
    if (!lines[i].startsWith("|")) {
      if (lines[i] !== "") caption = lines[i].replace(/:$/, "");
      continue;
    }
    const head = cellsOf(lines[i]);
    const rows: string[][] = [];
    // The second line of a table only tells how its columns are aligned.
    for (i += 2; lines[i]?.startsWith("|"); i++) rows.push(cellsOf(lines[i]));
    tables.push({ caption, head, rows });
  }
  return tables;
}

/** The sections of `RESULTS.md`. */
export function readSections(markdown: string): Section[] {
  return markdown.split(/^## /m).slice(1).map((text) => {
    const [title, ...lines] = text.split("\n").map((line) => line.trim());
    const [topic, runtime = ""] = title.split(": ");
    const [, version = ""] = /^\d{4}-\d\d-\d\d, (\w+ [\d.]+),/.exec(lines.find((line) => line !== "") ?? "") ?? [];
    return { topic, runtime, version, tables: readTables(lines) };
  });
}

/** The number a cell begins with, as in `1,234`, `5.8 µs` or `-0.44%`; undefined if it begins with none. */
export function numberIn(cell: string | undefined): number | undefined {
  const [digits] = /^-?\d[\d,]*(\.\d+)?/.exec(cell ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits.replaceAll(",", ""));
}

/** The column of that name; of several, the one that `nth` tells, 0 for the first. */
export function columnOf(table: Table, name: string, nth = 0): number {
  let left = nth;
  return table.head.findIndex((head) => head === name && left-- === 0);
}
