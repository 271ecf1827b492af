import type { Operation, OperationKind } from "./program.ts";
import type { Random } from "./random.ts";

/** The operations that a callback can do, too: all but creating objects and waiting. */
const kinds: ReadonlySet<OperationKind> = new Set<OperationKind>([
  ...["read", "readInto", "releaseReader", "readerClosed", "cancel", "cancelReader", "next", "return"] as const,
  ...["write", "closeWriter", "closeWritable", "ready", "writerClosed", "writerDesiredSize", "releaseWriter"] as const,
  ...[
    "abortWriter",
    "abort",
    "enqueue",
    "close",
    "error",
    "terminate",
    "desiredSize",
    "byobRequest",
    "respond",
  ] as const,
]);

/**
 * The program with some of its main line's operations done by callbacks as well: streams are read, written, closed and
 * torn down from within the very calls that they make.
 */
export function reentrant(operations: readonly Operation[], random: Random): Operation[] {
  const candidates = operations.filter(({ kind }) => kinds.has(kind));
  if (candidates.length === 0) return [...operations];
  const visit = <T>(part: T): T => {
    if (Array.isArray(part)) return part.map(visit) as T;
    if (typeof part !== "object" || part === null) return part;
    const copy = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, visit(value)]));
    if ("outcome" in part && random.chance(0.25)) {
      const at = random.below(copy.operations.length + 1);
      copy.operations = copy.operations.toSpliced(at, 0, random.pick(candidates));
    }
    return copy as T;
  };
  return visit(operations) as Operation[];
}
