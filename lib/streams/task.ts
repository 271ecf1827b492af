import { currentContext } from "./async_context.ts";
import { inAnotherTurn, isLongTurn, isPausing, pause } from "./long_turn.ts";
import { reactionTo } from "./promises.ts";

/** How many tasks run in one microtask before the promises of others get their turn. */
const BUDGET = 256;

const NONE = Symbol("no context");

/** The context of the task that runs, if one does. */
let running: unknown = NONE;

/** Tasks of that context that have become ready meanwhile. */
const ready: Task[] = [];

/**
 * Steps that run in a microtask whenever something has woken them, always in the asynchronous context that they were made
 * in, whoever wakes them: what waits for the same promise in many contexts must not come to run in that of the first.
 *
 * Tasks of one context that wake each other share a microtask: chunks go down a chain of pipes without one for each hop.
 */
export abstract class Task {
  readonly #context = currentContext();
  #isAwake = false;
  /** Wakes it: the reaction to that promise was registered in the context that it is to run in. */
  #resolve: () => void = () => {};

  constructor() {
    this.#await();
  }

  /** Has the steps run soon, and never at once, if they are not to run yet. */
  wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    if (this.#context === running) ready.push(this);
    else this.#resolve();
  }

  protected abstract run(): void;

  #await(): void {
    this.#resolve = reactionTo(this.#onWoken);
  }

  readonly #onWoken = (): void => {
    if (isPausing()) inAnotherTurn(this.#begin);
    else this.#begin();
  };

  /** Runs the steps, and those of the tasks that they wake. */
  readonly #begin = (): void => {
    this.#await(); // first, as the steps may wake it
    running = this.#context;
    let next = 0;
    let isLong = false;
    try {
      this.#runOnce();
      // A callback of users may have entered another context.
      while (!(isLong = isLongTurn()) && next < ready.length && next < BUDGET && currentContext() === running) {
        ready[next++].#runOnce();
      }
    } finally {
      running = NONE;
      if (isLong) pause();
      while (next < ready.length) ready[next++].#resolve();
      ready.length = 0;
    }
  };

  #runOnce(): void {
    this.#isAwake = false;
    this.run();
  }
}
