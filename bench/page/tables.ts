/** A table of a section. */
export interface Table {
  /** The paragraph before the table, without its colon; a table that follows another has the same caption. Empty without one. */
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The results of one run of a scenario, which are a file of `bench/results`. */
export interface Section {
  /** The scenario, as in `streams`. */
  readonly topic: string;
  /** The runtime without its version, as in `Node`; empty if the run compares runtimes. */
  readonly runtime: string;
  /** The runtime with the version it had in this run, as in `Node 26.10.0`; empty if the run does not name it. */
  readonly version: string;
  /** The date, versions, machine and units of the figures. */
  readonly measured: string;
  readonly tables: readonly Table[];
  /** Other paragraphs. */
  readonly notes: readonly string[];
}

/** The runtimes in the order in which all plots show them. */
export const RUNTIMES: readonly string[] = ["Node", "Bun", "Deno"];

function cellsOf(line: string): string[] {
  return line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

/** Returns the section that a title, as in `streams: Node`, and its text in Markdown give. */
export function toSection(title: string, markdown: string): Section {
  const [topic, runtime = ""] = title.split(": ");
  const [measured, ...blocks] = markdown.trim().split(/\n\s*\n/).map((block) => block.trim());
  const [, version = ""] = /^\d{4}-\d\d-\d\d, (\w+ [\d.]+),/.exec(measured) ?? [];
  const tables: Table[] = [];
  const notes: string[] = [];
  let caption = "";
  blocks.forEach((block, i) => {
    if (block.startsWith("|")) {
      const [head, , ...rows] = block.split("\n").map(cellsOf); // the second line contains only the alignment of columns
      tables.push({ caption, head, rows });
    } else if (blocks[i + 1]?.startsWith("|")) caption = block.replace(/:$/, "");
    else notes.push(block);
  });
  return { topic, runtime, version, measured, tables, notes };
}

/** JSON with a row a line, so that a change of a number is a change of its line. */
export function toJson(section: Section): string {
  const json = JSON.stringify(section, null, 2);
  return `${json.replace(/\[\n\s+("(?:[^"\\\n]|\\.)*",?\n\s*)*\]/g, (list) => list.replace(/\n\s*/g, " "))}\n`;
}

/** Returns the number a cell begins with, as in `1,234`, `5.8 µs` or `-0.44%`; undefined if it begins with none. */
export function numberIn(cell: string | undefined): number | undefined {
  const [digits] = /^-?\d[\d,]*(\.\d+)?/.exec(cell ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits.replaceAll(",", ""));
}

/** Returns the index of a column; `nth` chooses among several of that name, 0 for the first. */
export function columnOf(table: Table, name: string, nth = 0): number {
  let left = nth;
  return table.head.findIndex((head) => head === name && left-- === 0);
}
