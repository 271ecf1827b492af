import { collectGarbage } from "../../support/garbage.ts";

/** A process's memory after a garbage collection, in MB. */
export interface Memory {
  readonly rss: number;
  readonly heap: number;
}

export function memory(): Memory {
  collectGarbage?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss: Math.round(rss / 1e5) / 10, heap: Math.round(heapUsed / 1e5) / 10 };
}

/** Returns the resident set alone, in MB, as it is at this moment. */
export function residentSet(): number {
  return Math.round(process.memoryUsage.rss() / 1e5) / 10;
}
