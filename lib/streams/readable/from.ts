import { mustBe } from "../language/errors.ts";
import {
  isThenableLike,
  PENDING,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  react,
} from "../language/promises.ts";
import { toObject } from "../language/webidl.ts";
import { queueResume, type SourceAlgorithms } from "./controller_state.ts";
import { createReadableStream, type DefaultControllerState } from "./default_controller_state.ts";
import type { ReadableStreamState } from "./stream_state.ts";

const { apply } = Reflect;
const { isView } = ArrayBuffer;

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Properties = Record<PropertyKey, unknown>;

/** The standard's GetMethod. */
function getMethod(object: unknown, name: PropertyKey): Method | undefined {
  const method = (object as Properties)[name];
  if (method === undefined || method === null) return undefined;
  if (typeof method !== "function") throw mustBe(String(name), "a function");
  return method as Method;
}

/**
 * @throws {TypeError} if the object is not iterable.
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablestreamfromiterable}
 */
export function readableStreamFromIterable(iterable: unknown): ReadableStreamState {
  if (!isThenableLike(iterable)) throw notIterable();
  const asyncMethod = getMethod(iterable, Symbol.asyncIterator);
  const method = asyncMethod ?? getMethod(iterable, Symbol.iterator);
  if (!method) throw notIterable();
  const iterator = toObject(apply(method, iterable, []), "an iterator", "ERR_INVALID_STATE");
  const source = asyncMethod === undefined ? new SyncIteratorSource(iterator) : new AsyncIteratorSource(iterator);
  const stream = createReadableStream(source, 0);
  source.controller = stream.controller as DefaultControllerState;
  return stream;
}

function notIterable(): TypeError {
  return mustBe("the source of a stream", "an object that is iterable or async iterable", "ERR_ARG_NOT_ITERABLE");
}

/** An iterator's result after its members have been read. */
export interface IteratorOutcome {
  readonly done: boolean;
  readonly value: unknown;
}

function toIteratorResult(result: unknown): Properties {
  return toObject(result, "an iterator's result", "ERR_INVALID_STATE");
}

function readIteratorResult(result: unknown): IteratorOutcome {
  const { done, value } = toIteratorResult(result);
  return { done: Boolean(done), value };
}

abstract class IteratorSource implements SourceAlgorithms {
  controller!: DefaultControllerState; // assigned when the stream exists
  readonly #iterator: Properties;
  readonly #nextMethod: Method;

  constructor(iterator: Properties) {
    this.#iterator = iterator;
    this.#nextMethod = iterator.next as Method;
  }

  abstract pull(): unknown;

  cancel(reason: unknown): unknown {
    const method = getMethod(this.#iterator, "return");
    return method === undefined ? undefined : this.returned(apply(method, this.#iterator, [reason]));
  }

  /** Handles the result of the iterator's `return()`. */
  protected abstract returned(result: unknown): unknown;

  protected callNext(): unknown {
    return apply(this.#nextMethod, this.#iterator, []);
  }

  protected readonly onNext = (result: unknown): void => {
    const object = toIteratorResult(result);
    const done = Boolean(object.done);
    this.give(done, done ? undefined : object.value);
  };

  protected give(done: boolean, value: unknown): void {
    if (done) this.controller.close();
    else this.controller.enqueue(value);
  }

  /** IteratorClose for a throw completion: an error of `return()` is ignored. */
  protected close(): void {
    try {
      const method = getMethod(this.#iterator, "return");
      if (method) apply(method, this.#iterator, []);
    } catch {
      // the error that caused the close is reported instead
    }
  }
}

class AsyncIteratorSource extends IteratorSource {
  pull(): unknown {
    return react(promiseResolvedWith(this.callNext()), this.onNext);
  }

  returned(result: unknown): unknown {
    return react(promiseResolvedWith(result), (result) => void toIteratorResult(result));
  }
}

/** The steps of an AsyncFromSyncIterator, which awaits values that are promises. */
export class SyncIteratorSource extends IteratorSource {
  /** The result that `pullRun()` has taken from the iterator but could not enqueue. */
  ahead: IteratorOutcome | undefined;
  #done = false;
  #value: unknown;

  pull(): unknown {
    const { done, value } = this.ahead ?? this.next();
    this.ahead = undefined;
    if (!isThenableLike(value)) return this.#giveLater(done, value);
    const awaited = isView(value) ? resolvedView(value) : this.#resolved(done, value);
    if (awaited === undefined) return this.#giveLater(done, value);
    const wrapped = react(
      awaited,
      (value) => ({ done, value }),
      done ? undefined : (error) => {
        this.close();
        throw error;
      },
    );
    return react(wrapped, this.onNext);
  }

  next(): IteratorOutcome {
    return readIteratorResult(this.callNext());
  }

  returned(result: unknown): unknown {
    return react(promiseResolvedWith(readIteratorResult(result).value), () => {});
  }

  #resolved(done: boolean, value: unknown): Promise<unknown> {
    try {
      return promiseResolvedWith(value);
    } catch (error) {
      if (!done) this.close();
      throw error;
    }
  }

  /** Returns a value that is not a thenable: after as many microtasks as the reactions above take, or at once for a pipe. */
  #giveLater(done: boolean, value: unknown): unknown {
    if (this.controller.stream.reader?.mostPullsAtOnce) {
      this.give(done, value);
      return undefined;
    }
    this.#done = done;
    this.#value = value;
    queueReaction(this.#onUnwrapped);
    return PENDING;
  }

  readonly #onUnwrapped = (): void => queueReaction(this.#giveUnwrapped);

  readonly #giveUnwrapped = (): void => {
    const value = this.#value;
    this.#value = undefined;
    this.give(this.#done, value);
    queueResume(this.controller);
  };
}

/** Resolves a view as a promise would, or returns undefined if it is not a thenable; `then` is read once. */
function resolvedView(view: object): Promise<unknown> | undefined {
  let then: unknown;
  try {
    then = (view as Properties).then;
  } catch (error) {
    return promiseRejectedWith(error);
  }
  if (typeof then !== "function") return undefined;
  return promiseResolvedWith({ then: (...settle: unknown[]) => apply(then as Method, view, settle) });
}
