import { globalFunction } from "../../language/global_function.ts";
/** Taken once, as for all that streams depend on: faked timers do not stop them. */
const [setTimeout, clearTimeout] = [globalFunction("setTimeout")!, globalFunction("clearTimeout")!];
/** Timers of Node and Bun may be early by less than that, in ms. */
const EXACTNESS = 0.5;

/** The time that the first chunk of a batch waits for others. */
export class BatchDelay {
  readonly #delay: number;
  readonly #onOver: () => void;
  /** When the batch that grows is due, in ms as of performance.now(). */
  #due = 0;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  /** @param onOver Called when the time of a batch is over that was asked for. */
  constructor(delay: number, onOver: () => void) {
    this.#delay = delay;
    this.#onOver = onOver;
  }

  /** Whether `onOver` is going to be called. */
  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** A batch gets its first chunk. */
  begin(): void {
    this.#due = performance.now() + this.#delay;
  }

  /** Whether the batch has waited for long enough; if not, `onOver` will be called. */
  isOver(): boolean {
    if (this.isRunning) return false;
    const rest = this.#due - performance.now();
    if (rest < EXACTNESS) return true;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.isOver()) this.#onOver();
    }, Math.ceil(rest));
    return false;
  }

  /** All batches were given to the sink. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
