/**
 * Runs ways to fail one after the other and prints, as JSON, the number of unhandled rejections that each has left.
 * This is a separate process because a test runner would count the rejections as failures.
 */
import process from "node:process";
import { failures, forgotten } from "./failing_batched_streams.ts";

let unhandled = 0;
process.on("unhandledRejection", () => unhandled++);

const counts: Record<string, number> = {};
for (const [name, failure] of Object.entries({ ...failures, ...forgotten })) {
  unhandled = 0;
  await failure();
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setTimeout(resolve, 1));
  counts[name] = unhandled;
}
console.log(JSON.stringify(counts));
process.exit(0);
