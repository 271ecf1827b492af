import { compareByTurn, compareInOrder, compareOutcomes, type Difference } from "./comparison.ts";
import type { Behaviour, Departure, Found } from "./departures.ts";
import type { StreamClasses } from "./implementations.ts";
import { run } from "./interpreter.ts";
import { hasPipes, type Program } from "./program.ts";
import { settled } from "./settle.ts";

/** This package's classes and others, with the known differences of the others. */
export interface Contest {
  readonly name: string;
  readonly ours: StreamClasses;
  readonly theirs: StreamClasses;
  /** The differences in the order of microtasks within one turn of the event loop. */
  readonly timing: readonly Departure[];
  /** The other differences in behaviour. */
  readonly behaviours: readonly Behaviour[];
  /**
   * A third implementation, and the classes of this package to compare with it: both must agree where a behaviour says
   * so.
   */
  readonly arbiter?: { readonly ours: StreamClasses; readonly theirs: StreamClasses };
}

export type Verdict =
  | { readonly outcome: "same" }
  | { readonly outcome: "explained"; readonly by: string }
  | { readonly outcome: "different"; readonly difference: Difference };

/** Runs a program against both sides and returns whether their logs agree, or the reason of the difference. */
export async function judge(program: Program, contest: Contest): Promise<Verdict> {
  const exact = hasPipes(program) ? undefined : await find(program, contest, compareInOrder);
  if (exact === "same") return { outcome: "same" };
  const touching = contest.timing.filter((departure) => departure.touches(program));
  if (exact !== undefined && touching.length === 0) return await blame(program, contest, exact);
  const quiet = settled(program);
  const found = await find(quiet, contest, compareByTurn);
  if (found !== "same") return await blame(quiet, contest, found);
  if (exact === undefined) return { outcome: "same" };
  return { outcome: "explained", by: touching.map(({ name }) => name).join(", ") };
}

async function find(
  program: Program,
  sides: { readonly ours: StreamClasses; readonly theirs: StreamClasses },
  compare: typeof compareByTurn,
): Promise<Found | "same"> {
  const theirs = await run(program, sides.theirs);
  const ours = await run(program, sides.ours);
  const difference = compare(theirs, ours);
  return difference === undefined ? "same" : { difference, theirs, ours };
}

/** Finds the known behaviour that explains a difference, if any. */
async function blame(program: Program, { behaviours, arbiter }: Contest, found: Found): Promise<Verdict> {
  const shown = behaviours.filter(({ shows }) => shows(found, program));
  const alone = shown.find(({ arbitrated }) => !arbitrated);
  if (alone !== undefined) return { outcome: "explained", by: alone.name };
  const compare = hasPipes(program) ? compareOutcomes : compareByTurn;
  const sidesWithOurs = shown.length > 0 && arbiter !== undefined &&
    await find(program, arbiter, compare) === "same";
  if (sidesWithOurs) return { outcome: "explained", by: shown[0].name };
  return { outcome: "different", difference: found.difference };
}
