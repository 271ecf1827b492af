/**
 * Wakes tasks of which some throw, and prints as JSON which of them ran and which errors were reported. This is a
 * separate process because a test runner would count the errors as failures.
 */
import process from "node:process";
import { Task } from "../../lib/streams/shortcuts/task.ts";

const seen: string[] = [];
const reported: string[] = [];
process.on("unhandledRejection", (error) => void reported.push((error as Error).message));

function add(name: string, steps: () => void = () => {}): void {
  class Steps extends Task {
    override run(): void {
      seen.push(name);
      steps();
    }
  }
  new Steps().wake();
}

function fail(name: string): never {
  throw new Error(name);
}

add("first");
add("second throws", () => {
  add("asked for by the second");
  fail("second");
});
add("third");
await new Promise((resolve) => setTimeout(resolve, 10));
add("last throws", () => fail("last"));
await new Promise((resolve) => setTimeout(resolve, 10));
add("later");
await new Promise((resolve) => setTimeout(resolve, 10));
console.log(JSON.stringify({ seen, reported }));
process.exit(0);
