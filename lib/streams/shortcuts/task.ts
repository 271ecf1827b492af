import { type Context, currentContext, runIn } from "#streams/async_context";
import { inAnotherTurn, isLongTurn } from "./long_turn.ts";
import { queueReaction } from "../language/promises.ts";

/** How many tasks run in one microtask before the promises of others get their turn. */
const BUDGET = 256;

/** The first and the last of the tasks that wait; each has the next one, which takes less time than a queue of its own. */
let first: Task | undefined;
let last: Task | undefined;
/** Whether a microtask that runs tasks is queued or under way, or will be in another turn. */
let isAwake = false;

/**
 * Steps that run in a microtask whenever something has woken them, always in the asynchronous context that they were made
 * in, whoever wakes them.
 *
 * Tasks that become ready meanwhile share the microtask: chunks go down a chain of pipes without one for each hop.
 */
export abstract class Task {
  readonly #context: Context = currentContext();
  #isAwake = false;
  #next: Task | undefined;

  /** Has the steps run soon, and never at once, if they are not to run yet. */
  wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    if (first === undefined) first = this;
    else last!.#next = this;
    last = this;
    if (holdTasks()) queueReaction(runTasks);
  }

  abstract run(): void;

  static run(task: Task): void {
    first = task.#next;
    if (first === undefined) last = undefined;
    else task.#next = undefined;
    task.#isAwake = false;
    runIn(task.#context, task);
  }
}

/**
 * Keeps tasks that become ready until {@linkcode runTasks}, which runs them without a microtask of their own: for
 * where a microtask of ours is under way, with no code of users below it. Returns whether the caller is to release them.
 */
export function holdTasks(): boolean {
  if (isAwake) return false;
  isAwake = true;
  return true;
}

/** Runs the tasks that wait, as those that {@linkcode holdTasks} kept. */
export function runTasks(): void {
  let isLong = false;
  try {
    for (let left = BUDGET; left > 0 && first !== undefined && !isLong; left--) {
      Task.run(first);
      isLong = isLongTurn();
    }
  } finally {
    if (isLong) inAnotherTurn(runTasks);
    else if (first === undefined) isAwake = false;
    else queueReaction(runTasks);
  }
}
