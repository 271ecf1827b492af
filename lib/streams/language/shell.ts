/**
 * How our own code makes objects of public classes that callers cannot construct, or not from a state: the state
 * waits here while the constructor runs. Callers cannot see it, and it costs them nothing.
 *
 * @module
 */

import { illegalConstructor } from "./errors.ts";

let waiting: object | undefined;

/** Constructs a public object around a state. */
export function construct<T>(constructor: new (...args: never[]) => T, state: object): T {
  waiting = state;
  return new constructor();
}

/** The first half of {@linkcode construct}, for where a call of one known constructor is to be fast. */
export function giveState(state: object): void {
  waiting = state;
}

/** Returns the state given to {@linkcode construct}, in the constructor it called; otherwise undefined. */
export function takeState<State extends object>(): State | undefined {
  const state = waiting as State | undefined;
  waiting = undefined;
  return state;
}

/**
 * The same for a class that only our own code constructs.
 *
 * @throws {TypeError} if a caller constructs it.
 */
export function requireState<State extends object>(): State {
  const state = takeState<State>();
  if (state === undefined) throw illegalConstructor();
  return state;
}
