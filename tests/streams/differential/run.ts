/**
 * Runs random programs of stream operations against ours and others, compares all that can be observed, and prints
 * each difference that nothing known explains as the smallest program that shows it.
 *
 *   node tests/streams/differential/run.ts --programs 100000 [--seed 1] [--quiet]
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { againstNative, againstReference, ours, pipesAgainstNative } from "./contests.ts";
import { generateProgram } from "./generate_program.ts";
import { run } from "./interpreter.ts";
import { hasPipes, type Program } from "./program.ts";
import { shrink } from "./shrink.ts";
import { type Contest, judge } from "./verdict.ts";

/** The number of differences that are made small and printed; of more only the seed is printed. */
const MOST_SHOWN = 10;

const { values } = parseArgs({
  options: {
    programs: { type: "string", default: "10000" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
    quiet: { type: "boolean", default: false },
  },
});
const programs = Number(values.programs);
const first = Number(values.seed);
const contests: readonly Contest[] = [againstReference, againstNative, ...pipesAgainstNative];

interface Tally {
  programs: number;
  same: number;
  readonly explained: Map<string, number>;
  readonly different: string[];
}

let running: "ours" | "theirs" = "theirs";
let unhandled = 0;
process.on("unhandledRejection", () => {
  if (running === "ours") unhandled++;
});
// Assertions that fail inside the other implementations are thrown in their microtasks.
process.on("uncaughtException", (error) => {
  if (running === "ours") throw error;
});

function newTally(): Tally {
  return { programs: 0, same: 0, explained: new Map(), different: [] };
}

async function compete(contest: Contest, program: Program, tally: Tally): Promise<void> {
  tally.programs++;
  let verdict = await judge(program, contest);
  // A machine that stalls for 40 ms can reorder pipes and program, but not twice: run again.
  if (verdict.outcome === "different") verdict = await judge(program, contest);
  if (verdict.outcome === "same") {
    tally.same++;
  } else if (verdict.outcome === "explained") {
    tally.explained.set(verdict.by, (tally.explained.get(verdict.by) ?? 0) + 1);
  } else {
    const isShown = tally.different.length < MOST_SHOWN;
    tally.different.push(isShown ? await report(contest, program) : `${contest.name}, seed ${program.seed}`);
  }
}

async function report(contest: Contest, program: Program): Promise<string> {
  const isDifferent = async (candidate: Program): Promise<boolean> =>
    hasPipes(candidate) === hasPipes(program) && (await judge(candidate, contest)).outcome === "different";
  const smallest = await shrink(program, isDifferent);
  const verdict = await judge(smallest, contest);
  const difference = verdict.outcome === "different" ? verdict.difference : undefined;
  return [
    `${contest.name}, seed ${program.seed}:`,
    ...smallest.operations.map((operation) => `  ${JSON.stringify(operation)}`),
    `  ${difference?.subject}, event ${difference?.index}`,
    `  expected: ${difference?.expected}`,
    `  actual:   ${difference?.actual}`,
  ].join("\n");
}

/** Whether a program leaves an unhandled rejection of this package. */
async function leavesRejections(program: Program): Promise<boolean> {
  const before = unhandled;
  running = "ours";
  await run(program, ours);
  await new Promise((resolve) => setImmediate(resolve));
  running = "theirs";
  return unhandled > before;
}

function summary(contest: Contest, { programs, same, explained, different }: Tally): string {
  const causes = [...explained].sort(([, one], [, other]) => other - one).map(([by, count]) =>
    `  ${count} explained: ${by}`
  );
  const total = [...explained.values()].reduce((sum, count) => sum + count, 0);
  const counts = `${programs} programs, ${same} the same, ${total} explained, ${different.length} unexplained`;
  return [`${contest.name}: ${counts}`, ...(values.quiet ? [] : causes), ...different.slice(0, 5 * MOST_SHOWN)].join(
    "\n",
  );
}

const tallies = new Map(contests.map((contest) => [contest, newTally()]));
const leaky: number[] = [];
const started = performance.now();
for (let seed = first; seed < first + programs; seed++) {
  const program = generateProgram(seed);
  if (await leavesRejections(program)) leaky.push(seed);
  for (const [contest, tally] of tallies) {
    if (!pipesAgainstNative.includes(contest) || hasPipes(program)) await compete(contest, program, tally);
  }
  const done = seed - first + 1;
  if (!values.quiet && done % 10_000 === 0) {
    console.log(`${done} of ${programs} programs, ${Math.round((performance.now() - started) / 1000)} s`);
  }
}

for (const [contest, tally] of tallies) console.log(summary(contest, tally));
console.log(`unhandled rejections of ours: ${leaky.length === 0 ? "none" : `programs ${leaky.join(", ")}`}`);
const failed = leaky.length > 0 || [...tallies.values()].some(({ different }) => different.length > 0);
if (failed) console.log(`again: node tests/streams/differential/run.ts --programs ${programs} --seed ${first}`);
process.exit(failed ? 1 : 0);
