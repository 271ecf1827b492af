import { inAnotherTurn, isLongTurn } from "./long_turn.ts";
import { queueReaction } from "./promises.ts";

/** Something that runs when its turn comes. */
export interface Task {
  /** Whether it waits for its turn; the scheduler alone writes it. */
  scheduled: boolean;
  run(): void;
}

/** How many tasks run in one microtask before the promises of others get their turn. */
const BUDGET = 256;

/** Those that wait, from `next` on, behind those that have run. */
const tasks: Task[] = [];
let next = 0;
/** Whether a microtask that runs tasks is queued or under way, or will be in another turn. */
let isAwake = false;

/**
 * Runs a task in the next microtask, and all that become ready meanwhile with it: chunks go down a chain of pipes
 * without a microtask for each hop. A task that waits already is not added again.
 */
export function schedule(task: Task): void {
  if (task.scheduled) return;
  task.scheduled = true;
  tasks.push(task);
  if (isAwake) return;
  isAwake = true;
  queueReaction(runTasks);
}

/**
 * Keeps tasks that become ready until {@linkcode releaseTasks}, which runs them without a microtask of their own: for
 * where a microtask of ours is under way, with no code of users below it. Returns whether the caller is to release them.
 */
export function holdTasks(): boolean {
  if (isAwake) return false;
  isAwake = true;
  return true;
}

/** Runs the tasks that {@linkcode holdTasks} kept. */
export function releaseTasks(): void {
  if (tasks.length === 0) isAwake = false;
  else runTasks();
}

function runTasks(): void {
  const end = next + BUDGET;
  let isLong = false;
  try {
    while (next < tasks.length && next < end && !isLong) {
      const task = tasks[next++];
      task.scheduled = false;
      task.run();
      isLong = isLongTurn();
    }
  } finally {
    const isDone = next === tasks.length;
    if (isDone) tasks.length = 0;
    else tasks.splice(0, next);
    next = 0;
    if (isLong) inAnotherTurn(runTasks);
    else if (isDone) isAwake = false;
    else queueReaction(runTasks);
  }
}
