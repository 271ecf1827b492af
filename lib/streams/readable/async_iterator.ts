import { wrongThis } from "../language/errors.ts";
import { Deferred, inAMicrotask, promiseRejectedWith, promiseResolvedWith, react } from "../language/promises.ts";
import { type ReadableControllerState, readBufferedHoldingPull, takeHeldPull } from "./controller_state.ts";
import type { ReadRequest } from "./read_requests.ts";
import {
  type DefaultReaderState,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericCancel,
  readableStreamReaderRelease,
} from "./reader_state.ts";
import { isObject } from "../language/webidl.ts";

const NAME = "ReadableStream AsyncIterator";

type Result<R> = IteratorResult<R, unknown>;

class IterationReadRequest extends Deferred<Result<unknown>> implements ReadRequest {
  readonly #reader: DefaultReaderState;
  constructor(reader: DefaultReaderState) {
    super();
    this.#reader = reader;
  }
  chunkSteps(value: unknown): void {
    this.resolve({ done: false, value });
  }
  closeSteps(): void {
    readableStreamReaderRelease(this.#reader);
    this.resolve({ done: true, value: undefined });
  }
  errorSteps(error: unknown): void {
    readableStreamReaderRelease(this.#reader);
    this.reject(error);
  }
}

/**
 * The asynchronous iterator of a ReadableStream.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-asynciterator}
 * @see {@link https://webidl.spec.whatwg.org/#js-asynchronous-iterator-prototype-object}
 */
export class ReadableStreamAsyncIterator<R> {
  readonly #reader: DefaultReaderState;
  readonly #preventCancel: boolean;
  #ongoing: Promise<Result<R>> | undefined;
  /** How many calls of `next()` have not settled: while there are any, later calls wait for the last of them. */
  #unsettled = 0;
  #finished = false;
  /** A chunk that was read and is given in a microtask; there is one at most, as calls wait for each other. */
  #buffered: R | undefined;
  /** The controller of the pull that reading it caused, whose end is to come first. */
  #pulled: ReadableControllerState | undefined;

  constructor(reader: DefaultReaderState, preventCancel: boolean) {
    this.#reader = reader;
    this.#preventCancel = preventCancel;
  }

  next(): Promise<Result<R>> {
    if (!isObject(this) || !(#ongoing in this)) return promiseRejectedWith(wrongThis(NAME));
    this.#unsettled++;
    this.#ongoing = this.#ongoing === undefined
      ? this.#nextSteps()
      : react(this.#ongoing, () => this.#nextSteps(), () => this.#nextSteps());
    return this.#ongoing;
  }

  return(value: unknown): Promise<Result<R>> {
    if (!isObject(this) || !(#ongoing in this)) return promiseRejectedWith(wrongThis(NAME));
    const steps = (): Promise<Result<R>> => this.#returnSteps(value);
    this.#ongoing = this.#ongoing === undefined ? steps() : react(this.#ongoing, steps, steps);
    return react(this.#ongoing, () => ({ done: true, value }));
  }

  #nextSteps(): Promise<Result<R>> {
    if (this.#finished) return promiseResolvedWith<Result<R>>({ done: true, value: undefined });
    const { stream } = this.#reader;
    if (stream!.controller.hasBuffered) { // as in ReadableStreamDefaultReader.read(), and its reaction
      stream!.disturbed = true;
      this.#buffered = readBufferedHoldingPull(stream!.controller) as R;
      if (takeHeldPull(stream!.controller)) this.#pulled = stream!.controller;
      return inAMicrotask(this.#onBuffered);
    }
    const request = new IterationReadRequest(this.#reader);
    readableStreamDefaultReaderRead(this.#reader, request);
    return react(request.promise as Promise<Result<R>>, this.#onNext, this.#onFailed);
  }

  readonly #onBuffered = (): Result<R> => {
    const pulled = this.#pulled;
    if (pulled !== undefined) {
      this.#pulled = undefined;
      pulled.goOn();
    }
    const value = this.#buffered as R;
    this.#buffered = undefined;
    this.#settled();
    return { done: false, value };
  };

  #settled(): void {
    if (--this.#unsettled === 0) this.#ongoing = undefined;
  }

  readonly #onNext = (result: Result<R>): Result<R> => {
    this.#settled();
    if (result.done) this.#finished = true;
    return result;
  };

  readonly #onFailed = (error: unknown): never => {
    this.#settled();
    this.#finished = true;
    throw error;
  };

  #returnSteps(value: unknown): Promise<Result<R>> {
    const end: Result<R> = { done: true, value };
    if (this.#finished) return promiseResolvedWith(end);
    this.#finished = true;
    if (this.#preventCancel) {
      readableStreamReaderRelease(this.#reader);
      return promiseResolvedWith(end);
    }
    const canceled = readableStreamReaderGenericCancel(this.#reader, value);
    readableStreamReaderRelease(this.#reader);
    return canceled as Promise<never>;
  }
}

const { prototype } = ReadableStreamAsyncIterator;
const asyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype);
Reflect.deleteProperty(prototype, "constructor");
Object.setPrototypeOf(prototype, asyncIteratorPrototype);
for (const member of ["next", "return"]) Object.defineProperty(prototype, member, { enumerable: true });
Object.defineProperty(prototype, Symbol.toStringTag, { value: NAME, configurable: true });
