import type { Warn } from "../scan/representation.ts";

/** Requests provoke these warnings: their number must have an end. */
const MOST = 100;

/** Passes each warning on once, and at most 100 of them. */
export function warnOnce(warn: Warn): Warn {
  const told = new Set<string>();
  return (path, message) => {
    const warning = JSON.stringify([path, message]);
    if (told.size >= MOST || told.has(warning)) return;
    told.add(warning);
    warn(path, message);
  };
}
