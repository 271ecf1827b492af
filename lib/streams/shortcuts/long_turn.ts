/**
 * Keeps tasks that never end from holding up the timers and sockets of everybody: every so often they stop until the
 * event loop has taken other turns. Nothing of it shows where there are few.
 *
 * @module
 */

import { atEndOfTurn } from "./end_of_turn.ts";
import { Deferred, react } from "../language/promises.ts";

/**
 * How long, in ms, tasks run until others have their turn. At 10, a server with 100 responses under way paused several times
 * in each, and at each pause sent what it had of all of them: 1.3 to 1.5 times the CPU time on Bun.
 */
const LONGEST = 40;
/** For how many turns tasks stop: Deno looks at its sockets every 61 turns only, and a turn takes microseconds. */
const TURNS = 8;
/** How many tasks run until it is asked how long the turn has been: to ask a clock for each would take a tenth. */
const MOST_UNTIMED = 256;
/** That many if they are slow, or as many as take the time that follows, in ms. */
const LEAST_UNTIMED = 8;
const PACE = 2;
/** How many tasks one counts for that has moved all that a task may move. */
const MANY = 64;

let untimed = MOST_UNTIMED;
let interval = MOST_UNTIMED;
let askedAt = 0;
/** Since when the end of a turn is waited for, or was the last time. */
let start = 0;
let awaitsEnd = false;
let resume: (() => void) | undefined;
let turnsLeft = 0;
let pauses = 0;

/** Whether tasks are to stop, by {@linkcode inAnotherTurn}: to be asked after each. */
export function isLongTurn(): boolean {
  return --untimed < 0 && askClock(performance.now());
}

function askClock(now: number): boolean {
  if (awaitsEnd) interval = Math.max(LEAST_UNTIMED, Math.min(MOST_UNTIMED, interval * PACE / (now - askedAt)));
  untimed = interval;
  askedAt = now;
  if (now - start <= LONGEST) return false;
  if (awaitsEnd) return true;
  awaitsEnd = true;
  start = now;
  atEndOfTurn(onEndOfTurn);
  return false;
}

/** Says of the task that runs that it has done as much as many others do. */
export function countAsMany(): void {
  untimed -= MANY;
}

/** Runs `steps` when others have had their turn, by a reaction to a promise, in the asynchronous context of this call. */
export function inAnotherTurn(steps: () => void): void {
  const resumed = new Deferred<void>();
  react(resumed.promise, steps);
  resume = resumed.resolve;
  turnsLeft = TURNS;
  pauses++;
}

/** The number of the pause that tasks make now; 0 if they make none. */
export function currentPause(): number {
  return resume === undefined ? 0 : pauses;
}

function onEndOfTurn(): void {
  if (resume !== undefined && --turnsLeft > 0) return atEndOfTurn(onEndOfTurn);
  awaitsEnd = false;
  resume?.();
  resume = undefined;
}
