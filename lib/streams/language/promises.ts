// The promises that the standard uses: instances of the language's own `Promise`, made only if user code can observe them.

// The constants come first, so that minifiers replace their names by the numbers.
const STATUS_PENDING = 0;
const FULFILLED = 1;
const REJECTED = 2;

/** `%Promise%`, from an async function. Compiled to an older target, such a function uses the global. */
export const NativePromise: PromiseConstructor = Object.getPrototypeOf(
  Array.fromAsync?.([]) ?? (async () => {})(),
).constructor;
const { resolve, reject } = NativePromise;

/** A resolved promise: reacting to it is the cheapest way to run code one microtask later. */
const RESOLVED: Promise<void> = NativePromise.resolve();

const then = ownThen(NativePromise.prototype.then);

/** Makes a replaced `then()` that returns other promises return native ones. */
function ownThen(given: typeof NativePromise.prototype.then): typeof given {
  if (given.call(RESOLVED) instanceof NativePromise) return given;
  return function (this: Promise<never>, ...args) {
    return promiseResolvedWith(given.apply(this, args as never)) as never;
  };
}

export const noop = (): void => {};

/** The standard's "a promise resolved with": a native promise is returned as it is. */
export function promiseResolvedWith<T>(value: T | PromiseLike<T>): Promise<T> {
  return resolve.call(NativePromise, value) as Promise<T>;
}

/** Returns a new promise resolved with a value: unlike {@linkcode promiseResolvedWith}, also for a native promise. */
export function newPromiseResolvedWith<T>(value: T | PromiseLike<T>): Promise<T> {
  return new NativePromise<T>((resolve) => resolve(value));
}

/** The standard's "a promise rejected with". */
export function promiseRejectedWith<T = never>(reason: unknown): Promise<T> {
  return reject.call(NativePromise, reason) as Promise<T>;
}

/** Returns the result of `steps`; an exception becomes a rejection. */
export function attempt<T>(steps: () => T): T | Promise<never> {
  try {
    return steps();
  } catch (error) {
    return promiseRejectedWith(error);
  }
}

/** The standard's PerformPromiseThen, without a look-up of `then`. */
export function react<T, A = void, B = never>(
  promise: Promise<T>,
  onFulfilled: ((value: T) => A | PromiseLike<A>) | undefined,
  onRejected?: (reason: unknown) => B | PromiseLike<B>,
): Promise<A | B> {
  return then.call(promise, onFulfilled as never, onRejected as never) as Promise<A | B>;
}

/** Runs `steps`, if any, one microtask later, and promises their result. */
export function inAMicrotask<T = void>(steps?: () => T): Promise<T> {
  return then.call(RESOLVED, steps as never) as Promise<T>;
}

/** Runs `steps` one microtask later. */
export function queueReaction(steps: () => void): void {
  then.call(RESOLVED, steps);
}

/** Sets `[[PromiseIsHandled]]`, so that a rejection is not reported as unhandled. */
export function markAsHandled(promise: Promise<unknown>): void {
  then.call(promise, undefined, noop);
}

/** Runs a step when a result has settled. A result that is not an object takes as many microtasks, without a promise. */
export function settle(result: unknown, onFulfilled: () => void, onRejected: (reason: unknown) => void): void {
  if (isThenableLike(result)) then.call(promiseResolvedWith(result), onFulfilled, onRejected);
  else then.call(RESOLVED, onFulfilled);
}

/**
 * Returns a user callback's result, converted to a promise, as Web IDL does, if it may be a thenable. (For `pull`,
 * `write` and `transform`, a native promise is used as it is, here and in engines, which saves two microtasks for each
 * chunk.)
 */
export function callbackResult(result: unknown): unknown {
  return isThenableLike(result) ? newPromiseResolvedWith(result) : result;
}

/** Whether a value could have a `then` method; the look-up itself is observable, and left to the promise. */
export function isThenableLike(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** A promise and the functions that settle it. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve: (value: T | PromiseLike<T>) => void = noop;
  reject: (reason: unknown) => void = noop;
  constructor() {
    // V8 inlines this arrow function; a function shared by all instances takes a third longer.
    this.promise = new NativePromise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** A promise that settles when a stream has ended. */
export interface EndedPromise {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(reason: unknown): void;
}

/** A `closed` or `ready` promise, made by its getter. Its rejections are marked as handled, as the standard requires. */
export class LazyPromise implements EndedPromise {
  #status = STATUS_PENDING;
  #reason: unknown;
  #deferred: Deferred<void> | undefined;
  #promise: Promise<void> | undefined;

  get isPending(): boolean {
    return this.#status === STATUS_PENDING;
  }

  get promise(): Promise<void> {
    if (this.#promise !== undefined) return this.#promise;
    if (this.#status === STATUS_PENDING) {
      this.#deferred = new Deferred();
      this.#promise = this.#deferred.promise;
    } else if (this.#status === FULFILLED) {
      this.#promise = promiseResolvedWith<void>(undefined);
    } else {
      this.#promise = promiseRejectedWith(this.#reason);
      markAsHandled(this.#promise);
    }
    return this.#promise;
  }

  resolve(): void {
    if (this.#status !== STATUS_PENDING) return;
    this.#status = FULFILLED;
    this.#deferred?.resolve();
    this.#deferred = undefined;
  }

  /** Rejects the promise if it is pending; otherwise replaces it by a rejected one. */
  reject(reason: unknown): void {
    const wasPending = this.#status === STATUS_PENDING;
    this.#status = REJECTED;
    this.#reason = reason;
    if (!wasPending) {
      this.#promise = undefined;
    } else if (this.#deferred !== undefined) {
      markAsHandled(this.#deferred.promise);
      this.#deferred.reject(reason);
      this.#deferred = undefined;
    }
  }

  renew(): void {
    this.#status = STATUS_PENDING;
    this.#reason = undefined;
    this.#deferred = undefined;
    this.#promise = undefined;
  }
}

/** The standard's "waiting for all": fulfils when all promises have; rejects as soon as one does. */
export function waitForAll(promises: readonly Promise<unknown>[]): Promise<void> {
  if (promises.length === 0) return promiseResolvedWith<void>(undefined);
  const all = new Deferred<void>();
  let pending = promises.length;
  const onFulfilled = (): void => {
    if (--pending === 0) all.resolve();
  };
  for (const promise of promises) then.call(promise, onFulfilled, all.reject);
  return all.promise;
}

/** The result of an unfinished internal algorithm, used instead of a promise: the algorithm reports its end by a call. */
export const PENDING: unique symbol = Symbol("parked");

/** The algorithms of a stream that no longer calls its source, sink or transformer, so that these can be collected. */
export const NO_ALGORITHMS: Readonly<
  Record<"abort" | "cancel" | "close" | "flush" | "pull" | "transform" | "write", () => void>
> = {
  abort: noop,
  cancel: noop,
  close: noop,
  flush: noop,
  pull: noop,
  transform: noop,
  write: noop,
};
