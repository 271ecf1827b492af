import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage at once; undefined where a process cannot (Deno without `--v8-flags=--expose-gc`). */
export const collectGarbage: (() => void) | undefined = collector();

function collector(): (() => void) | undefined {
  const { Bun, gc } = globalThis as { Bun?: { gc(isSync: boolean): void }; gc?: () => void };
  if (Bun) return () => Bun.gc(true);
  if (gc) return gc;
  try {
    setFlagsFromString("--expose-gc");
    return runInNewContext("gc") as () => void;
  } catch {
    return undefined;
  }
}
