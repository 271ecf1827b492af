import { queueResume } from "./controller_state.ts";
import { wrongThis } from "../language/errors.ts";
import {
  NativePromise,
  noop,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  react,
} from "../language/promises.ts";
import { isObject } from "../language/webidl.ts";
import {
  DefaultReaderState,
  disturb,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericCancel,
  readableStreamReaderGenericInitialize,
  readableStreamReaderRelease,
  type ReadableStreamState,
  type ReadRequest,
  servedRead,
} from "./stream_state.ts";

const NAME = "ReadableStream AsyncIterator";

type Result = IteratorResult<unknown, unknown>;

const PromiseConstructor = NativePromise;
const RESOLVED: Promise<never> = promiseResolvedWith(undefined as never);

/** The reader of an iterator, released at its end; also the request of its only pending read. */
class Iteration extends DefaultReaderState implements ReadRequest {
  override readonly mostPullsAtOnce = 2;
  readonly #preventCancel: boolean;
  /** The promise of the last call that has not settled, for which later calls wait. */
  #ongoing: Promise<Result> | undefined;
  /** The number of pending calls that wait for earlier ones. */
  #waiting = 0;
  #resolve: (result: Result) => void = noop;
  #reject: (reason: unknown) => void = noop;
  #chunk: unknown;

  constructor(stream: ReadableStreamState, preventCancel: boolean) {
    super();
    this.#preventCancel = preventCancel;
    readableStreamReaderGenericInitialize(this, stream);
  }

  next(): Promise<Result> {
    return this.#ongoing === undefined ? this.#read() : this.#wait(() => this.#read());
  }

  return(value: unknown): Promise<Result> {
    this.#ongoing = this.#ongoing === undefined ? this.#end(value) : this.#wait(() => this.#end(value));
    return react(this.#ongoing, () => ({ done: true, value }));
  }

  #wait(steps: () => Promise<Result>): Promise<Result> {
    this.#waiting++;
    return this.#ongoing = react(react(this.#ongoing!, steps, steps), (result) => {
      this.#waited();
      return result;
    }, (error) => {
      this.#waited();
      throw error;
    });
  }

  #waited(): void {
    this.#waiting--;
    this.#answered();
  }

  #read(): Promise<Result> {
    const { stream } = this;
    if (stream === undefined) return promiseResolvedWith<Result>({ done: true, value: undefined });
    if (stream.controller.hasBuffered) { // as in ReadableStreamDefaultReader.read()
      disturb(stream);
      this.#ongoing ??= RESOLVED; // calls within the source's pull() wait for this one
      const chunk = stream.controller.readBuffered();
      this.#answered();
      return servedRead(chunk) as Promise<Result>;
    }
    const promise = new PromiseConstructor<Result>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (this.#waiting === 0) this.#ongoing = promise;
    readableStreamDefaultReaderRead(this, this);
    return promise;
  }

  /** Settles one microtask later, like Web IDL's reaction to a read, so that a pull that has ended meanwhile continues first. */
  chunkSteps(value: unknown): void {
    this.#chunk = value;
    queueResume(this);
  }

  resume(): void {
    const value = this.#chunk;
    this.#chunk = undefined;
    this.#answered();
    this.#resolve({ done: false, value });
  }

  closeSteps(): void {
    this.#finish(() => this.#resolve({ done: true, value: undefined }));
  }

  errorSteps(error: unknown): void {
    this.#finish(() => this.#reject(error));
  }

  /** Ends the iteration, at most once for a stream, in the microtask that the standard prescribes. */
  #finish(answer: () => void): void {
    readableStreamReaderRelease(this);
    queueReaction(() => {
      this.#answered();
      answer();
    });
  }

  #answered(): void {
    if (this.#waiting === 0) this.#ongoing = undefined;
  }

  #end(value: unknown): Promise<Result> {
    const canceled = this.#preventCancel || this.stream === undefined
      ? undefined
      : readableStreamReaderGenericCancel(this, value);
    readableStreamReaderRelease(this);
    return promiseResolvedWith(canceled) as Promise<never>;
  }
}

/**
 * The asynchronous iterator of a ReadableStream.
 *
 * In Web IDL, each step reacts to a read before it answers. Here, as in Node and Deno, the promise of a step that the
 * queue serves settles a microtask earlier.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-asynciterator}
 * @see {@link https://webidl.spec.whatwg.org/#js-asynchronous-iterator-prototype-object}
 */
export class ReadableStreamAsyncIterator<R> {
  readonly #iteration: Iteration;

  constructor(stream: ReadableStreamState, preventCancel: boolean) {
    this.#iteration = new Iteration(stream, preventCancel);
  }

  next(): Promise<IteratorResult<R, unknown>> {
    if (!isObject(this) || !(#iteration in this)) return promiseRejectedWith(wrongThis(NAME));
    return this.#iteration.next() as Promise<IteratorResult<R, unknown>>;
  }

  return(value: unknown): Promise<IteratorResult<R, unknown>> {
    if (!isObject(this) || !(#iteration in this)) return promiseRejectedWith(wrongThis(NAME));
    return this.#iteration.return(value) as Promise<IteratorResult<R, unknown>>;
  }
}

const { prototype } = ReadableStreamAsyncIterator;
// In code compiled to an older target, as for zone.js, async generators have no prototype of their own.
const { prototype: generator } = Object.getPrototypeOf(async function* () {});
const asyncIteratorPrototype: object = generator === undefined
  ? {
    [Symbol.asyncIterator](): object {
      return this;
    },
  }
  : Object.getPrototypeOf(generator);
Reflect.deleteProperty(prototype, "constructor");
Object.setPrototypeOf(prototype, asyncIteratorPrototype);
for (const member of ["next", "return"]) Object.defineProperty(prototype, member, { enumerable: true });
Object.defineProperty(prototype, Symbol.toStringTag, { value: NAME, configurable: true });
