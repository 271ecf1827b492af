import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

interface BunGlobal {
  gc(isSync: boolean): void;
}

/** What the process holds, after a garbage collection: in MB. */
export interface Memory {
  readonly rss: number;
  readonly heap: number;
}

const collect = collector();

/** How this runtime is made to collect garbage; nothing where it cannot be (Deno without --v8-flags=--expose-gc). */
function collector(): () => void {
  const { Bun, gc } = globalThis as { Bun?: BunGlobal; gc?: () => void };
  if (Bun) return () => Bun.gc(true);
  if (gc) return gc;
  try {
    setFlagsFromString("--expose-gc");
    return runInNewContext("gc") as () => void;
  } catch {
    return () => {};
  }
}

export function memory(): Memory {
  collect();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss: Math.round(rss / 1e5) / 10, heap: Math.round(heapUsed / 1e5) / 10 };
}

/** The resident set alone, in MB, as it is at this moment. */
export function residentSet(): number {
  return Math.round(process.memoryUsage.rss() / 1e5) / 10;
}
