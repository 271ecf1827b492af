import type { Sample } from "./process_state.ts";

/** The outcome of a scene. */
export interface Outcome {
  readonly samples: readonly Sample[];
  readonly unhandled: readonly string[];
  /** The reason of an early end; undefined if there was none. */
  readonly error?: string;
}

/** Growth that is no leak: caches of engines, and resources still being closed. */
const SLACK = { rss: 40, heap: 8, files: 20, resources: 20 } as const;
const RATIO = 1.15;
/** The number of samples below which there is no verdict. */
const LEAST = 8;

/** Returns the problems of an outcome; empty if there are none. */
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

/** Returns the minima of the second and the last quarter: a leak raises the minimum, uncollected garbage does not. */
export function growthOf(
  samples: readonly Sample[],
  kind: keyof Sample,
): { before: number; after: number } | undefined {
  if (samples.length < LEAST) return undefined;
  const quarter = Math.floor(samples.length / 4);
  const least = (part: readonly Sample[]): number => Math.min(...part.map((one) => one[kind]));
  return { before: least(samples.slice(quarter, 2 * quarter)), after: least(samples.slice(-quarter)) };
}
