import { type Behaviour, type Departure, uses } from "./departures.ts";
import { endsOnce, overlaps } from "./log_patterns.ts";
import type { Program } from "./program.ts";
import { standardBehaviours } from "./standard_departures.ts";

export const referenceTiming: readonly Departure[] = [
  {
    name: "async iterators",
    reason:
      "next() and return() wait for the ones before them in other microtasks than Web IDL says, and ours answers " +
      "earlier, as Node's and Deno's; where one of ours reads, a pull that returned no promise ends at once",
    touches: uses("iterator"),
  },
  {
    name: "ReadableStream.from()",
    reason: "iterators are wrapped in other microtasks than the language says",
    touches: uses("from"),
  },
];

export const referenceBehaviours: readonly Behaviour[] = [
  ...standardBehaviours,
  {
    name: "next() before the one before it has answered",
    reason: "its reader is released twice, and a TypeError of its own is thrown at whoever settles the read",
    arbitrated: false,
    shows: ({ theirs, ours }) => overlaps(theirs) && endsOnce(ours),
  },
  {
    name: "next() in a callback",
    reason:
      "it waits for the one before it, as above, so that a chunk enqueued behind it finds no read and is measured, and a " +
      "source of bytes finds no request",
    arbitrated: true,
    shows: ({ difference: { expected, actual } }, program) =>
      /^(size\b|no request)/.test(String(expected)) && !/^size\b/.test(String(actual)) && callsNext(program),
  },
];

/** Whether a callback calls next() without a turn between it and the following operations. */
function callsNext({ operations }: Program): boolean {
  return /"operations":\[[^\]]*"kind":"next"/.test(JSON.stringify(operations));
}
