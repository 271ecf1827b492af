import { setImmediate } from "node:timers/promises";

/** How long a scan may keep other work of the thread waiting, in ms. */
const LONGEST_TURN = 5;

/** Parts long work into short turns, between which a server goes on answering. */
export class Turns {
  #end: number = performance.now() + LONGEST_TURN;

  /** Whether it is time to {@linkcode next}; asked often, so that nothing is awaited in vain. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets others have their turn. */
  async next(): Promise<void> {
    await setImmediate();
    this.#end = performance.now() + LONGEST_TURN;
  }
}
