/**
 * What `node:stream` asks of a web stream, under the registered symbols by which it asks (`finished()`,
 * `addAbortSignal()`, `isDisturbed()` and the like, also Node's Response): its own streams answer for their native side,
 * of which ours is empty.
 *
 * @module
 */
import { type EndedPromise, markAsHandled } from "../promises.ts";

/** Gives an error the code that Node gives it: its `fetch()` looks at that when it cancels a body that is locked. */
export function invalidStateError(error: TypeError): TypeError {
  return Object.assign(error, { code: "ERR_INVALID_STATE" });
}

const CLOSED_PROMISE = Symbol.for("nodejs.webstream.isClosedPromise");

/** Deno's constructors make the promise that `node:stream` asks for an own property, out of reach of our prototype. */
class OwnClosedPromise implements EndedPromise {
  readonly #deferred: EndedPromise;
  constructor(deferred: EndedPromise) {
    this.#deferred = deferred;
  }
  get promise(): Promise<void> {
    return this.#deferred.promise;
  }
  resolve(): void {
    this.#deferred.resolve();
  }
  reject(reason: unknown): void {
    markAsHandled(this.#deferred.promise);
    this.#deferred.reject(reason);
  }
}

let isOwn: boolean | undefined;

/** Lets a state settle the promise that the runtime's constructor gave its stream, if it did. */
export function adoptOwnClosedPromise(
  state: { readonly state: string; readonly storedError: unknown; ended: EndedPromise | undefined },
  stream: object,
): void {
  isOwn ??= Object.hasOwn(stream, CLOSED_PROMISE);
  if (!isOwn) return;
  state.ended = new OwnClosedPromise((stream as Record<symbol, EndedPromise>)[CLOSED_PROMISE]);
  if (state.state === "closed") state.ended.resolve();
  else if (state.state === "errored") state.ended.reject(state.storedError);
}

/** The answers of a stream. */
export interface NodeInterop {
  readonly isDisturbed?: (stream: object) => boolean;
  readonly isErrored: (stream: object) => boolean;
  readonly isReadable?: (stream: object) => boolean;
  readonly isWritable?: (stream: object) => boolean;
  /** A promise that settles when the stream has closed or errored. */
  readonly ended: (stream: object) => Promise<void>;
  readonly error: (stream: object, error: unknown) => void;
}

/** Lets a class of ours answer. */
export function answerNode({ prototype }: { prototype: object }, interop: NodeInterop): void {
  const { isDisturbed, isErrored, isReadable, isWritable, ended, error } = interop;
  defineAnswer(prototype, "nodejs.stream.disturbed", isDisturbed);
  defineAnswer(prototype, "nodejs.stream.errored", isErrored);
  defineAnswer(prototype, "nodejs.stream.readable", isReadable);
  defineAnswer(prototype, "nodejs.stream.writable", isWritable);
  defineAnswer(
    prototype,
    "nodejs.webstream.isClosedPromise",
    (stream) => ({ promise: ended(stream), resolve() {}, reject() {} }),
  );
  defineAnswer(
    prototype,
    "nodejs.webstream.controllerErrorFunction",
    (stream) => (reason: unknown) => error(stream, reason),
  );
}

/** Deno's constructors set some of these, for their side of the stream: the setter lets that pass. */
function defineAnswer(prototype: object, name: string, answer: ((stream: object) => unknown) | undefined): void {
  if (answer === undefined) return;
  Object.defineProperty(prototype, Symbol.for(name), {
    get(this: object): unknown {
      return answer(this);
    },
    set(): void {},
    configurable: true,
  });
}
