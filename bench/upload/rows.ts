import type { Contestant, Round } from "./contestant.ts";

/** The best figure of each kind among the usual ways that do not buffer; they can be of different ways. */
export type Usual = Partial<Round>;

/** @see {@linkcode Usual} */
export function usualOf(contestants: readonly Contestant[]): Usual {
  const usual: Record<string, number> = {};
  for (const { isOurs, isBuffered, median } of contestants) {
    if (isOurs || isBuffered || !median) continue;
    for (const [figure, value] of Object.entries(median)) usual[figure] = Math.min(value, usual[figure] ?? Infinity);
  }
  return usual;
}

/** The head of a table of {@linkcode row}s. */
export const head: readonly string[] = [
  ...["", "wall", "to usual", "fastest", "mean latency", "to usual", "p99", "CPU", "to usual", "peak MiB"],
];

/** Returns a contestant's row: medians of all rounds in seconds, except for the fastest round and the highest peak. */
export function row({ name, failure, median, least, peak }: Contestant, usual: Usual): string[] {
  if (!median || !least) return [name, `fails: ${failure}`, ...head.slice(2).map(() => "-")];
  const to = (figure: keyof Round): string => usual[figure] ? (median[figure] / usual[figure]).toFixed(2) : "-";
  return [
    name,
    `${median.wall.toFixed(2)} s`,
    to("wall"),
    `${least.wall.toFixed(2)} s`,
    `${median.mean.toFixed(2)} s`,
    to("mean"),
    `${median.p99.toFixed(2)} s`,
    `${median.cpu.toFixed(2)} s`,
    to("cpu"),
    String(Math.round(peak!)),
  ];
}

/** The head of a table of {@linkcode growthRow}s. */
export const growthHead: readonly string[] = ["", "few", "many", "MiB an upload"];

/**
 * Returns a contestant's growth in memory: from the highest peak with few uploads to the highest with `more` in
 * addition.
 */
export function growthRow(few: Contestant, many: Contestant, more: number): string[] {
  if (few.peak === undefined || many.peak === undefined) {
    return [few.name, `fails: ${few.failure ?? many.failure}`, "-", "-"];
  }
  const grown = (many.peak - few.peak) / more;
  return [few.name, `${Math.round(few.peak)} MiB`, `${Math.round(many.peak)} MiB`, grown.toFixed(3)];
}
