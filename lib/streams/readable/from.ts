import { RUN_LENGTH, takeRun } from "../number_runs.ts";
import { PARKED } from "../parked.ts";
import {
  isThenableLike,
  markAsHandled,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  react,
} from "../promises.ts";
import {
  createReadableStream,
  type DefaultControllerState,
  readableStreamDefaultControllerClose,
  readableStreamDefaultControllerEnqueue,
  readableStreamDefaultControllerError,
  type RunningPipe,
  type SourceAlgorithms,
} from "./default_controller_state.ts";
import type { ReadableStreamState } from "./stream_state.ts";

const { apply } = Reflect;

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Properties = Record<PropertyKey, unknown>;

/** GetMethod. */
function getMethod(object: unknown, name: PropertyKey): Method | undefined {
  const method = (object as Properties)[name];
  if (method === undefined || method === null) return undefined;
  if (typeof method !== "function") throw new TypeError(`${String(name)} must be a function`);
  return method as Method;
}

function checkObject(value: unknown, name: string): Properties {
  if ((typeof value === "object" && value !== null) || typeof value === "function") return value as Properties;
  throw new TypeError(`${name} must be an object`);
}

/**
 * Makes a stream of an iterable.
 *
 * @throws {TypeError} if it is not iterable.
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablestreamfromiterable}
 */
export function readableStreamFromIterable(iterable: unknown): ReadableStreamState {
  let source: AsyncIteratorSource | SyncIteratorSource;
  const asyncMethod = getMethod(iterable, Symbol.asyncIterator);
  if (asyncMethod !== undefined) {
    source = new AsyncIteratorSource(checkObject(apply(asyncMethod, iterable, []), "the iterator"));
  } else {
    const method = getMethod(iterable, Symbol.iterator);
    if (method === undefined) throw new TypeError("Cannot make a stream: this is no iterable and no async iterable");
    source = new SyncIteratorSource(checkObject(apply(method, iterable, []), "the iterator"));
  }
  const stream = createReadableStream(source, 0);
  source.controller = stream.controller as DefaultControllerState;
  return stream;
}

abstract class IteratorSource implements SourceAlgorithms {
  controller: DefaultControllerState = undefined as never; // set when the stream is there
  protected readonly iterator: Properties;
  protected readonly nextMethod: Method;

  constructor(iterator: Properties) {
    this.iterator = iterator;
    this.nextMethod = iterator.next as Method;
  }

  abstract pull(): unknown;
  abstract cancel(reason: unknown): unknown;

  protected readonly onNext = (result: unknown): void => {
    const { done, value } = readResult(result);
    if (done) readableStreamDefaultControllerClose(this.controller);
    else readableStreamDefaultControllerEnqueue(this.controller, value);
  };
}

function readResult(result: unknown): { done: boolean; value: unknown } {
  const object = checkObject(result, "what the iterator's next() gives");
  return object.done ? { done: true, value: undefined } : { done: false, value: object.value };
}

class AsyncIteratorSource extends IteratorSource {
  pull(): unknown {
    return react(promiseResolvedWith(apply(this.nextMethod, this.iterator, [])), this.onNext);
  }

  cancel(reason: unknown): unknown {
    const method = getMethod(this.iterator, "return");
    if (method === undefined) return undefined;
    return react(promiseResolvedWith(apply(method, this.iterator, [reason])), (result) => {
      checkObject(result, "what the iterator's return() gives");
    });
  }
}

/** The steps of an AsyncFromSyncIterator: values that are promises are awaited. */
class SyncIteratorSource extends IteratorSource {
  #done = false;
  #value: unknown = undefined;
  /** What `pullRun()` has taken of the iterator and could not give. */
  #ahead: IteratorOutcome | undefined = undefined;

  pull(): unknown {
    const { done, value } = this.#ahead ?? this.#next();
    this.#ahead = undefined;
    if (!isThenableLike(value)) return this.#give(done, value);
    const awaited = isView(value) ? resolvedView(value) : this.#resolved(done, value);
    if (awaited === undefined) return this.#give(done, value);
    const wrapped = react(
      awaited,
      done ? asDone : asValue,
      done ? undefined : (error) => {
        closeIterator(this.iterator);
        throw error;
      },
    );
    return react(wrapped, this.onNext);
  }

  pullRun(most: number, pipe: RunningPipe): unknown[] {
    if (this.#ahead !== undefined) return [];
    const run = most === RUN_LENGTH ? takeRun() : new Array<unknown>(most);
    let length = 0;
    try {
      for (; length < most && pipe.wantsChunks; length++) {
        const next = this.#next();
        if (next.done || isThenableLike(next.value)) {
          this.#ahead = next;
          if (next.value instanceof Promise) markAsHandled(next.value); // the pull may never come
          break;
        }
        run[length] = next.value;
      }
    } catch (error) {
      readableStreamDefaultControllerError(this.controller, error);
    }
    if (length < most) run.length = length;
    return run;
  }

  #next(): IteratorOutcome {
    return readIteratorResult(apply(this.nextMethod, this.iterator, []));
  }

  #resolved(done: boolean, value: unknown): Promise<unknown> {
    try {
      return promiseResolvedWith(value);
    } catch (error) {
      if (!done) closeIterator(this.iterator);
      throw error;
    }
  }

  /**
   * What the reactions above come to for a value that is no thenable: in the same microtasks but with no results, or at
   * once where a pipe reads.
   */
  #give(done: boolean, value: unknown): unknown {
    const { controller } = this;
    if (controller.stream.reader?.fused) {
      if (done) readableStreamDefaultControllerClose(controller);
      else readableStreamDefaultControllerEnqueue(controller, value);
      return undefined;
    }
    this.#done = done;
    this.#value = value;
    queueReaction(this.#onUnwrapped);
    return PARKED;
  }

  readonly #onUnwrapped = (): void => queueReaction(this.#giveUnwrapped);

  readonly #giveUnwrapped = (): void => {
    const value = this.#value;
    this.#value = undefined;
    if (this.#done) readableStreamDefaultControllerClose(this.controller);
    else readableStreamDefaultControllerEnqueue(this.controller, value);
    queueReaction(this.controller.onPulled);
  };

  cancel(reason: unknown): unknown {
    const method = getMethod(this.iterator, "return");
    if (method === undefined) return undefined;
    const { value } = readIteratorResult(apply(method, this.iterator, [reason]));
    return react(promiseResolvedWith(value), () => {});
  }
}

const { isView } = ArrayBuffer;

/** A view as a promise would be resolved with it, or nothing if it is no thenable; `then` is looked up once. */
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

/** An iterator's result, once its members have been looked up. */
interface IteratorOutcome {
  readonly done: boolean;
  readonly value: unknown;
}

function readIteratorResult(result: unknown): IteratorOutcome {
  const object = checkObject(result, "an iterator's result");
  return { done: Boolean(object.done), value: object.value };
}

const asValue = (value: unknown): IteratorResult<unknown> => ({ done: false, value });
const asDone = (value: unknown): IteratorResult<unknown> => ({ done: true, value });

/** IteratorClose for a throw completion: what `return()` itself throws is not wanted. */
function closeIterator(iterator: Properties): void {
  try {
    const method = getMethod(iterator, "return");
    if (method !== undefined) apply(method, iterator, []);
  } catch {
    // the error that made us close it is the one that counts
  }
}
