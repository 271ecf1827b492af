/**
 * Departures of the compared implementations from the standard, and their other choices where it leaves one. Each entry
 * is named and counted, and says as narrowly as it can which programs it is about.
 *
 * @module
 */

import type { Difference } from "./comparison.ts";
import type { Event } from "./events.ts";
import type { Operation, OperationKind, Program } from "./program.ts";

/** A known difference in timing: the affected programs take the same turns of the event loop, but other microtasks. */
export interface Departure {
  readonly name: string;
  readonly reason: string;
  touches(program: Program): boolean;
}

/** Two logs that differ, and where. */
export interface Found {
  readonly difference: Difference;
  readonly theirs: readonly Event[];
  readonly ours: readonly Event[];
}

/** A known difference in behaviour, which remains even when every operation has its own turn. */
export interface Behaviour {
  readonly name: string;
  readonly reason: string;
  /** Whether a third implementation must agree with this package for the behaviour to explain a difference. */
  readonly arbitrated: boolean;
  shows(found: Found, program: Program): boolean;
}

/** Whether a program has an operation of one of these kinds, in its main line or in a callback. */
export function uses(...kinds: OperationKind[]): (program: Program) => boolean {
  return ({ operations }) => some(operations, kinds);
}

function some(operations: readonly Operation[], kinds: readonly OperationKind[]): boolean {
  return operations.some((operation) => kinds.includes(operation.kind) || someWithin(operation, kinds));
}

/** Whether a part of an operation contains an operation of these kinds. */
function someWithin(part: unknown, kinds: readonly OperationKind[]): boolean {
  if (typeof part !== "object" || part === null) return false;
  return Object.entries(part).some(([name, value]) =>
    name === "operations" ? some(value, kinds) : someWithin(value, kinds)
  );
}
