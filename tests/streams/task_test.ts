import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Task } from "../../lib/streams/shortcuts/task.ts";
import { output } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { turn } from "../support/waits.ts";

class Steps extends Task {
  readonly #steps: () => void;

  constructor(steps: () => void) {
    super();
    this.#steps = steps;
  }

  override run(): void {
    this.#steps();
  }
}

test("tasks run in the order in which they are woken, and never at once", async () => {
  const seen: string[] = [];
  const tasks = ["a", "b", "c"].map((name) => new Steps(() => void seen.push(name)));
  for (const i of [1, 0, 2]) tasks[i]!.wake();
  seen.push("before");
  await turn();
  assert.deepEqual(seen, ["before", "b", "a", "c"]);
});

test("a task that is awake already runs only once, and again if it is woken while it runs", async () => {
  let runs = 0;
  const again: Steps = new Steps(() => {
    if (++runs < 3) again.wake();
  });
  again.wake();
  again.wake();
  await turn();
  assert.equal(runs, 3);
});

test("a task that always wakes itself does not keep the promises of others from their turn", async () => {
  let stopped = false;
  let runs = 0;
  const endless: Steps = new Steps(() => {
    runs++;
    if (!stopped && runs < 100_000) endless.wake();
  });
  endless.wake();
  for (let i = 0; i < 10; i++) await Promise.resolve();
  stopped = true;
  await turn();
  assert.ok(runs > 1 && runs < 100_000, `${runs} runs`);
});

test("a task runs in the context it was made in, whoever wakes it, and also after a long turn", async () => {
  const context = new AsyncLocalStorage<number>();
  const seen: [number, number | undefined][] = [];
  const tasks = [0, 1, 2].map((i) =>
    context.run(i, () =>
      new Steps(() => {
        for (const end = performance.now() + 4; performance.now() < end;);
        seen.push([i, context.getStore()]);
      }))
  );
  for (let round = 0; round < 10; round++) {
    context.run(round + 10, () => {
      for (const task of tasks) task.wake();
    });
    while (seen.length < (round + 1) * tasks.length) await turn();
  }
  assert.deepEqual(seen.filter(([i, store]) => i !== store), []);
});

test("a task that throws stops no other, before or after it, and its error is reported", async () => {
  // This runs in a separate process, since test runners count a reported error as a failure.
  const program = join(dirname(fileURLToPath(import.meta.url)), "throwing_tasks.ts");
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  const { seen, reported } = JSON.parse(await output(process.execPath, [...flags, program], dirname(program)));
  assert.deepEqual(seen, ["first", "second throws", "third", "asked for by the second", "last throws", "later"]);
  assert.deepEqual(reported, ["second", "last"]);
});
