/**
 * Runs ways to fail one after the other and prints, as JSON, the number of unhandled rejections that each has left.
 * This is a separate process because test runners would count the rejections as failures, each in a different way.
 */
import process from "node:process";
import * as failing from "./failing_streams.ts";
import { mixedSets, ourSet } from "./stream_sets.ts";

const ofPipes = { ...failing.pipeFailures, ...failing.forgottenPipes };
const ofStreams = {
  ...failing.readableFailures,
  ...failing.writableFailures,
  ...failing.transformFailures,
  ...failing.bridgeFailures,
  ...failing.forgotten,
};
const set = [ourSet, ...mixedSets].find(({ name }) => name === process.argv[2])!;
/** The failures to test: native streams have faults of their own, so only pipes are tested between them. */
const failures = set === ourSet ? { ...ofStreams, ...ofPipes } : ofPipes;

let unhandled = 0;
process.on("unhandledRejection", () => unhandled++);

const counts: Record<string, number> = {};
for (const [name, failure] of Object.entries(failures)) {
  unhandled = 0;
  await failure(set);
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setTimeout(resolve, 1));
  counts[name] = unhandled;
}
console.log(JSON.stringify(counts));
process.exit(0);
