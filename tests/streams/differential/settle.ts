import type { Operation, Program } from "./program.ts";

/**
 * The program with nothing left to chance between two turns of the event loop: each operation of its main line has a
 * turn of its own, and callbacks settle at once or a turn later. A difference that remains is one of events, not of the
 * microtasks in which they happen.
 */
export function settled(program: Program): Program {
  const operations = program.operations
    .filter(({ kind }) => kind !== "microtasks" && kind !== "macrotask")
    .flatMap((operation): Operation[] => [settledPart(operation), { kind: "macrotask" }]);
  return { ...program, operations };
}

function settledPart<T>(part: T): T {
  if (Array.isArray(part)) return part.map(settledPart) as T;
  if (typeof part !== "object" || part === null) return part;
  if ("microtasks" in part) return { microtasks: 0 } as T;
  if ("kind" in part && part.kind === "thenable") return { kind: "return" } as T;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, settledPart(value)])) as T;
}
