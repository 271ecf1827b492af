import type { BarGroup, BarPlot, BarRow } from "./bars.ts";
import type { Results, Row } from "./results.ts";
import { RUNTIMES } from "./tables.ts";

/** A plot and the file it goes to. */
export interface PlotFile {
  /** The file's name, without folder and extension. */
  readonly name: string;
  readonly plot: BarPlot;
  /** Whether each bar compares this package with an alternative: a value below 1 means slower. */
  readonly isOurs: boolean;
}

/** A part of the page: its prose, and the functions that draw its plots from the results. */
export interface Topic {
  readonly title: string;
  /** The scenarios of `npm run bench` whose results it draws. */
  readonly scenarios: readonly string[];
  /** The paragraph on what is measured, against what, and how to read it. */
  readonly what: string;
  plots(results: Results): PlotFile[];
  /** Further notes; one whose figure is missing is undefined and left out. */
  notes(results: Results): (string | undefined)[];
}

/** The rows of a table that a plot draws. */
export interface Wanted {
  readonly topic: string;
  /** The start of the captions of the tables. */
  readonly caption: string;
  /** Reads the figure to draw; undefined leaves the row out. */
  value(row: Row): number | undefined;
  /** Returns the label; the row's own name by default. */
  label?(row: Row): string;
  note?(row: Row): string | undefined;
}

/** Bars of the same label on all runtimes, in the order of the tables. */
export function barRows(results: Results, { topic, caption, value, label, note }: Wanted): BarRow[] {
  const rows = new Map<string, Map<string, BarRow["bars"][number]>>();
  for (const runtime of RUNTIMES) {
    for (const row of results.rows(topic, runtime, caption)) {
      const number = value(row);
      if (number === undefined || !Number.isFinite(number)) continue;
      const name = (label?.(row) ?? row.name).replaceAll("`", "");
      const bars = rows.get(name) ?? new Map();
      if (!bars.has(runtime)) bars.set(runtime, { runtime, value: number, note: note?.(row) });
      rows.set(name, bars);
    }
  }
  return [...rows].map(([name, bars]) => ({ label: name, bars: [...bars.values()] }));
}

/** A plot's name, texts and scale, apart from the places of its bars. */
export interface PlotOptions {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** The section whose runtimes' versions the legend shows. */
  readonly topic: string;
  /** @default "log" */
  readonly scale?: "log" | "linear";
  /** @default 1 */
  readonly line?: number;
  /** @default ours is slower, ours is faster */
  readonly sides?: BarPlot["sides"];
  /** @default true */
  readonly isOurs?: boolean;
}

/** Returns the plot of the groups that have rows; none if there are none. */
export function plotOf(results: Results, options: PlotOptions, groups: readonly BarGroup[]): PlotFile[] {
  const { name, title, unit, topic, scale = "log", line = 1, isOurs = true } = options;
  const drawn = groups.filter(({ rows }) => rows.length > 0);
  if (drawn.length === 0) return [];
  const shown = new Set(drawn.flatMap(({ rows }) => rows.flatMap(({ bars }) => bars.map(({ runtime }) => runtime))));
  const legend = RUNTIMES.filter((runtime) => shown.has(runtime)).map((runtime) => {
    return [runtime, results.version(topic, runtime) ?? runtime] as const;
  });
  const names = drawn.flatMap((
    { heading, rows },
  ) => [...(heading ? [heading] : []), ...rows.map(({ label }) => label)]);
  const plot: BarPlot = {
    title,
    unit,
    description: `Bars on ${legend.map(([runtime]) => runtime).join(", ")}. ${unit}. From top to bottom: ${
      names.join("; ")
    }.`,
    legend: new Map(legend),
    scale,
    line,
    sides: options.sides ?? (line === 1 ? ["ours is slower", "ours is faster"] : undefined),
    groups: drawn,
  };
  return [{ name, plot, isOurs }];
}

/** `a / b`, where both are there. */
export function ratio(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined || b === 0 ? undefined : a / b;
}
