import type { Sample } from "./process_state.ts";

/** What a scene came to. */
export interface Outcome {
  readonly samples: readonly Sample[];
  readonly unhandled: readonly string[];
  /** The reason of an early end; undefined if there was none. */
  readonly error?: string;
}

/** What may come and go without being a leak: what engines keep at hand, and what is still being closed. */
const SLACK = { rss: 40, heap: 8, files: 20, resources: 20 } as const;
const RATIO = 1.15;
/** The number of samples below which it is too early to judge. */
const LEAST = 8;

/** What is wrong with an outcome; nothing, if it is as it should be. */
export function faultsOf({ samples, unhandled, error }: Outcome): string[] {
  const faults = error === undefined ? [] : [error];
  if (unhandled.length > 0) faults.push(`${unhandled.length} unhandled rejections, the first: ${unhandled[0]}`);
  for (const kind of ["rss", "heap", "files", "resources"] as const) {
    const growth = growthOf(samples, kind);
    if (growth && growth.after > growth.before * RATIO + SLACK[kind]) {
      faults.push(`${kind} grew from ${growth.before} to ${growth.after}`);
    }
  }
  return faults;
}

/** The least of the second quarter and of the last one: a leak lifts the least, what is not collected yet does not. */
export function growthOf(
  samples: readonly Sample[],
  kind: keyof Sample,
): { before: number; after: number } | undefined {
  if (samples.length < LEAST) return undefined;
  const quarter = Math.floor(samples.length / 4);
  const least = (part: readonly Sample[]): number => Math.min(...part.map((one) => one[kind]));
  return { before: least(samples.slice(quarter, 2 * quarter)), after: least(samples.slice(-quarter)) };
}
