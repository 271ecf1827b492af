import { atEndOfTurn } from "../streams/internal.ts";
import { Timer, type TimerOptions } from "./timer.ts";

/** Waits for `ms`; rejects with the reason of `signal` once that is aborted. Leaves neither a timer nor a listener. */
export function sleep(ms: number, signal?: AbortSignal, options?: TimerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.stop();
      reject(signal!.reason);
    };
    const timer = new Timer(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, options);
    signal?.addEventListener("abort", onAbort, { once: true });
    timer.start(ms);
  });
}

/** A wait that other code may end early. */
export class Pause {
  readonly #timer: Timer;
  #resolve: (() => void) | undefined = undefined;

  constructor(options?: TimerOptions) {
    this.#timer = new Timer(() => this.end(), options);
  }

  /** Waits for `ms`, or until `end()`. Ends an earlier wait. */
  wait(ms: number): Promise<void> {
    this.end();
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer.start(ms);
    });
  }

  end(): void {
    this.#timer.stop();
    this.#resolve?.();
  }
}

/** Waits for a promise for at most `ms`: returns whether it was fulfilled in time. Rejects if the promise does so in time. */
export async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const pause = new Pause();
  return await Promise.race([promise.then(() => true), pause.wait(ms).then(() => false)]).finally(() => pause.end());
}

/** A time limit combined with the signal of a caller: one signal for both. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #outer: readonly AbortSignal[];
  readonly #timer: Timer = new Timer(() => {
    this.isOver = true;
    this.#end(new Error(`it took more than ${this.#ms} ms`));
  });
  /** Whether the time ran out before it was stopped, or `outer` was aborted. */
  isOver = false;
  #ms = 0;
  #hasStopped = false;

  /** Starts the time: `ms` of any length, Infinity for no limit except `outer`, whose reason {@linkcode signal} takes. */
  constructor(ms: number, ...outer: readonly (AbortSignal | undefined)[]) {
    this.#outer = outer.filter((each) => each !== undefined);
    const aborted = this.#outer.find((each) => each.aborted);
    if (aborted !== undefined) {
      this.#end(aborted.reason);
    } else {
      for (const each of this.#outer) each.addEventListener("abort", this.#onAbort);
      this.restart(ms);
    }
  }

  /** Aborted when the time runs out, or `outer` is aborted. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Restarts the time, unless it ran out or was stopped. */
  restart(ms: number): void {
    if (this.#hasStopped) return;
    this.#ms = ms;
    this.#timer.start(ms);
  }

  /** Waits for a promise until the time runs out, and then rejects with the reason of {@linkcode signal}. */
  async within<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    promise.catch(() => {}); // a rejection after the end has no handler
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
    try {
      return await Promise.race([promise, ended]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Stops the time permanently; leaves neither a timer nor a listener. */
  stop(): void {
    this.#hasStopped = true;
    this.#timer.stop();
    for (const each of this.#outer) each.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => this.#end(this.#outer.find((each) => each.aborted)!.reason);

  #end(reason: unknown): void {
    this.stop();
    this.#controller.abort(reason);
  }
}

/** Splits long work into short turns, between which the rest of the program runs. */
export class TurnSlicer {
  readonly #ms: number;
  #end: number;

  /** @param ms The maximum time for which the event loop is blocked. */
  constructor(ms = 5) {
    this.#ms = ms;
    this.#end = performance.now() + ms;
  }

  /** Whether to await {@linkcode next}; checked often, so that a promise is awaited only once a turn. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Ends the turn: sockets, timers and immediates are handled. */
  async next(): Promise<void> {
    await new Promise<void>(atEndOfTurn);
    this.#end = performance.now() + this.#ms;
  }
}
