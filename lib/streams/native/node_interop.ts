/**
 * What `node:stream` asks of a web stream, under the registered symbols by which it asks (`finished()`,
 * `addAbortSignal()`, `isDisturbed()` and the like, also Node's Response): its own streams answer for their native side,
 * of which ours is empty.
 *
 * @module
 */

/** A TypeError with the code that Node gives it: its `fetch()` looks at that when it cancels a body that is locked. */
export function invalidStateError(message: string): TypeError {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_STATE" });
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
