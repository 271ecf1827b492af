import { queueReaction } from "../promises.ts";
import { Ring } from "../ring.ts";

/** Something that runs when its turn comes. */
export interface Task {
  /** Whether it waits for its turn; the scheduler alone writes it. */
  scheduled: boolean;
  run(): void;
}

/** How many tasks run in one microtask before the promises of others get their turn. */
const BUDGET = 256;

const tasks = new Ring<Task>();
/** Whether a microtask that runs tasks is queued or under way. */
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

function runTasks(): void {
  try {
    for (let budget = BUDGET; tasks.length > 0 && budget > 0; budget--) {
      const task = tasks.shift();
      task.scheduled = false;
      task.run();
    }
  } finally {
    if (tasks.length > 0) queueReaction(runTasks);
    else isAwake = false;
  }
}
