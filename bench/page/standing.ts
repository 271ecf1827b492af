import { type Bar, shortNumber } from "./bars.ts";
import { RUNTIMES } from "./tables.ts";
import type { PlotFile } from "./topic.ts";

/** The ratio below which this package is behind, and above whose reciprocal it is ahead; between them is noise. */
const EVEN = 0.95;

/** The number of bars that are ahead, about even, and behind. */
export interface Standing {
  readonly ahead: number;
  readonly even: number;
  readonly behind: number;
}

interface Entry {
  readonly label: string;
  readonly bar: Bar;
}

/** Returns this package's bars of the plots; the heading distinguishes rows of the same label. */
function entriesOf(plots: readonly PlotFile[]): Entry[] {
  const compared = plots.filter(({ isOurs }) => isOurs).map(({ plot }) => plot);
  return compared.flatMap(({ groups }) => groups).flatMap(({ heading, rows }) =>
    rows.flatMap(({ label, bars }) => bars.map((bar) => ({ label: heading ? `${heading}: ${label}` : label, bar })))
  );
}

/** Returns the standing of this package on a runtime; undefined if it was not compared there. */
export function standingOn(runtime: string, plots: readonly PlotFile[]): Standing | undefined {
  const values = entriesOf(plots).filter(({ bar }) => bar.runtime === runtime).map(({ bar }) => bar.value);
  if (values.length === 0) return undefined;
  const ahead = values.filter((value) => value > 1 / EVEN).length;
  const behind = values.filter((value) => value < EVEN).length;
  return { ahead, even: values.length - ahead - behind, behind };
}

/**
 * Returns a Markdown table's rows of where this package is behind, and by how much, in the plots' order; a column for
 * each runtime.
 */
export function whereBehind(plots: readonly PlotFile[]): string[][] {
  const rows = new Map<string, string[]>();
  for (const { label, bar } of entriesOf(plots).filter(({ bar }) => bar.value < EVEN)) {
    const row = rows.get(label) ?? RUNTIMES.map(() => "");
    row[RUNTIMES.indexOf(bar.runtime)] = shortNumber(bar.value);
    rows.set(label, row);
  }
  return [...rows].map(([label, cells]) => [label.replaceAll("_", "\\_"), ...cells]);
}
