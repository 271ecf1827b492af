/**
 * Runs ways to fail one after the other and prints, as JSON, how many unhandled rejections each has left. A process of
 * its own: a test runner would count them as failures.
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
