import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { schedule, type Task } from "../../lib/streams/scheduler.ts";
import { output, runtime } from "../e2e/consumer.ts";

function task(run: () => void): Task {
  return { scheduled: false, run };
}

/** Lets all microtasks run. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

test("schedule() runs tasks in their order, and never at once", async () => {
  const seen: string[] = [];
  for (const name of ["a", "b", "c"]) schedule(task(() => void seen.push(name)));
  seen.push("before");
  await turn();
  assert.deepEqual(seen, ["before", "a", "b", "c"]);
});

test("schedule() runs a task that waits already only once, and again if it asks while it runs", async () => {
  let runs = 0;
  const again = task(() => {
    if (++runs < 3) schedule(again);
  });
  schedule(again);
  schedule(again);
  await turn();
  assert.equal(runs, 3);
  assert.equal(again.scheduled, false);
});

test("schedule() runs tasks that become ready in a task in the same microtask, behind those that wait", async () => {
  const seen: string[] = [];
  const microtask = (): void => void Promise.resolve().then(() => seen.push("a microtask of others"));
  schedule(task(() => {
    seen.push("first");
    schedule(task(() => void seen.push("third")));
    microtask();
  }));
  schedule(task(() => void seen.push("second")));
  await turn();
  assert.deepEqual(seen, ["first", "second", "third", "a microtask of others"]);
});

test("schedule() lets the promises of others have their turn between many tasks, and loses none", async () => {
  const seen: number[] = [];
  let promiseAfter = -1;
  const count = 2000;
  schedule(task(() => void Promise.resolve().then(() => promiseAfter = seen.length)));
  for (let i = 0; i < count; i++) schedule(task(() => void seen.push(i)));
  await turn();
  assert.deepEqual(seen, Array.from({ length: count }, (_, i) => i));
  assert.ok(promiseAfter >= 0 && promiseAfter < count, `the promise had its turn after ${promiseAfter} tasks`);
});

test("a task that always asks again does not keep the promises of others from their turn", async () => {
  let stopped = false;
  let runs = 0;
  const endless = task(() => {
    runs++;
    if (!stopped && runs < 100_000) schedule(endless);
  });
  schedule(endless);
  for (let i = 0; i < 10; i++) await Promise.resolve();
  stopped = true;
  await turn();
  assert.ok(runs > 1 && runs < 100_000, `${runs} runs`);
});

test("a task that throws stops no other, before or after it, and its error is reported", async () => {
  // In a process of its own, since test runners count what is reported as a failure.
  const program = join(dirname(fileURLToPath(import.meta.url)), "throwing_tasks.ts");
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  const { seen, reported } = JSON.parse(await output(process.execPath, [...flags, program], dirname(program)));
  assert.deepEqual(seen, ["first", "second throws", "third", "asked for by the second", "last throws", "later"]);
  assert.deepEqual(reported, ["second", "last"]);
});
