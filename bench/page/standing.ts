import { type Bar, shortNumber } from "./bars.ts";
import { RUNTIMES } from "./tables.ts";
import type { PlotFile } from "./topic.ts";

/** Below this ours is behind, and above its reciprocal ahead; between them is noise. */
const EVEN = 0.95;

/** How many bars are ahead, about even, and behind. */
export interface Standing {
  readonly ahead: number;
  readonly even: number;
  readonly behind: number;
}

interface Entry {
  readonly label: string;
  readonly bar: Bar;
}

/** What bars of ours are in the plots; the heading tells rows of the same label apart. */
function entriesOf(plots: readonly PlotFile[]): Entry[] {
  const compared = plots.filter(({ isOurs }) => isOurs).map(({ plot }) => plot);
  return compared.flatMap(({ groups }) => groups).flatMap(({ heading, rows }) =>
    rows.flatMap(({ label, bars }) => bars.map((bar) => ({ label: heading ? `${heading}: ${label}` : label, bar })))
  );
}

/** How ours stands on a runtime; undefined if it was not compared there. */
export function standingOn(runtime: string, plots: readonly PlotFile[]): Standing | undefined {
  const values = entriesOf(plots).filter(({ bar }) => bar.runtime === runtime).map(({ bar }) => bar.value);
  if (values.length === 0) return undefined;
  const ahead = values.filter((value) => value > 1 / EVEN).length;
  const behind = values.filter((value) => value < EVEN).length;
  return { ahead, even: values.length - ahead - behind, behind };
}

/** A Markdown table's rows of where ours is behind, and by how much, in the plots' order; a column for each runtime. */
export function whereBehind(plots: readonly PlotFile[]): string[][] {
  const rows = new Map<string, string[]>();
  for (const { label, bar } of entriesOf(plots).filter(({ bar }) => bar.value < EVEN)) {
    const row = rows.get(label) ?? RUNTIMES.map(() => "");
    row[RUNTIMES.indexOf(bar.runtime)] = shortNumber(bar.value);
    rows.set(label, row);
  }
  return [...rows].map(([label, cells]) => [label.replaceAll("_", "\\_"), ...cells]);
}
