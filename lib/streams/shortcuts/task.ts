import { type Context, currentContext, runIn } from "#streams/async_context";
import { Deferred, queueReaction, react } from "../language/promises.ts";
import { atEndOfTurn } from "./end_of_turn.ts";

/*
 * Prevents endless tasks from delaying the timers and sockets of other code: after a time, all tasks stop until the
 * event loop has taken other turns. With few tasks this has no observable effect.
 */

/** The time in ms after which tasks yield. With 10, a server of 100 responses took 1.3 to 1.5 times the CPU time on Bun. */
const MAX_TURN_TIME = 40;
/** The number of event loop turns in a pause: a turn takes microseconds, and Deno polls its sockets only every 61 turns. */
const TURNS = 8;
/** The number of tasks between two checks of the clock: a check for each task would take a tenth of the time. */
const MAX_UNTIMED = 256;
/** The minimum of slow tasks between two checks, and the target time in ms between checks. */
const MIN_UNTIMED = 8;
const PACE = 2;
/** The weight, in tasks, of a task that has moved its full budget of chunks. */
const FULL_BUDGET_WEIGHT = 64;

let untimed = MAX_UNTIMED;
let interval = MAX_UNTIMED;
let askedAt = 0;
/** The start time of the current or last turn with tasks. */
let start = 0;
let awaitsEnd = false;
let resume: (() => void) | undefined;
let turnsLeft = 0;
let pauses = 0;

/** Whether tasks must stop and continue by {@linkcode inAnotherTurn}; must be called after each task. */
export function isLongTurn(): boolean {
  return --untimed < 0 && askClock(performance.now());
}

function askClock(now: number): boolean {
  if (awaitsEnd) interval = Math.max(MIN_UNTIMED, Math.min(MAX_UNTIMED, interval * PACE / (now - askedAt)));
  untimed = interval;
  askedAt = now;
  if (now - start <= MAX_TURN_TIME) return false;
  if (awaitsEnd) return true;
  awaitsEnd = true;
  start = now;
  atEndOfTurn(onEndOfTurn);
  return false;
}

/** Counts the running task as {@linkcode FULL_BUDGET_WEIGHT} tasks, since it has done as much work. */
export function countAsMany(): void {
  untimed -= FULL_BUDGET_WEIGHT;
}

/** Runs `steps` after other work has had its turn, by a reaction to a promise, in the asynchronous context of this call. */
export function inAnotherTurn(steps: () => void): void {
  const resumed = new Deferred<void>();
  react(resumed.promise, steps);
  resume = resumed.resolve;
  turnsLeft = TURNS;
  pauses++;
}

/** Returns the number of the current pause of tasks; 0 if there is none. */
export function currentPause(): number {
  return resume === undefined ? 0 : pauses;
}

function onEndOfTurn(): void {
  if (resume !== undefined && --turnsLeft > 0) return atEndOfTurn(onEndOfTurn);
  awaitsEnd = false;
  resume?.();
  resume = undefined;
}

/** The number of tasks in one microtask before other promises get their turn. */
const BUDGET = 256;

/** The first and the last waiting task. Each task links to the next one, which is faster than a separate queue. */
let first: Task | undefined;
let last: Task | undefined;
/** Whether a microtask that runs tasks is queued or running, or will be queued in another turn. */
let isAwake = false;

/**
 * Steps that run in a microtask after a wake-up, always in the asynchronous context of their creation.
 *
 * Tasks that become ready meanwhile share the microtask, so that a chain of pipes takes one for all its hops.
 */
export abstract class Task {
  readonly context: Context = currentContext();
  #isAwake = false;
  #next: Task | undefined;

  /** Schedules the steps to run in a microtask, never synchronously, unless they are scheduled already. */
  wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    if (first === undefined) first = this;
    else last!.#next = this;
    last = this;
    if (deferTasks()) queueReaction(runTasks);
  }

  abstract run(): void;

  static run(task: Task): void {
    first = task.#next;
    if (first === undefined) last = undefined;
    else task.#next = undefined;
    task.#isAwake = false;
    runIn(task.context, task);
  }
}

/**
 * Defers tasks that become ready until {@linkcode runTasks}, which runs them without another microtask. Must be called
 * in an internal microtask without user code on the stack. Returns whether the caller has to run them.
 */
export function deferTasks(): boolean {
  if (isAwake) return false;
  isAwake = true;
  return true;
}

/** Runs the waiting tasks, such as those that {@linkcode deferTasks} deferred. */
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
