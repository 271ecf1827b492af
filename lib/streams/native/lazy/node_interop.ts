// The answers that `node:stream` wants of a web stream, under registered symbols, for `finished()`, `isDisturbed()` …
// Node's own streams answer for their native side, of which that of this package is empty.
import { mustBe } from "../../language/errors.ts";
import { type EndedPromise, LazyPromise, markAsHandled, noop, react } from "../../language/promises.ts";
import { readableStreamClose, ReadableStreamState } from "../../readable/stream_state.ts";
import { UnderlyingSourceAlgorithms } from "../../readable/underlying_source.ts";

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

/** Lets a state settle the promise that the runtime's constructor gave its stream, if it did. */
export function adoptOwnClosedPromise(state: AskedState, stream: object): void {
  if (!Object.hasOwn(stream, CLOSED_PROMISE)) return;
  const own = (stream as Record<symbol, EndedPromise>)[CLOSED_PROMISE];
  state.ended = new OwnClosedPromise(own);
  settleIfEnded(state, state.ended);
  if (isEmpty(state)) react(own.promise, () => closeIfEmpty(state), noop);
}

/** The state of a stream of either kind, as far as answers need it. */
interface AskedState {
  readonly disturbed?: boolean;
  readonly state: string;
  readonly storedError: unknown;
  ended: EndedPromise | undefined;
  readonly controller: { error(error: unknown): void };
}

/** Gives a class the members that Node's stream functions read. */
export function answerNode(
  { prototype }: { prototype: object },
  open: "readable" | "writable",
  stateOf: (stream: object) => AskedState | undefined,
): void {
  const answers: Record<string, (state: AskedState) => unknown> = {
    [`nodejs.stream.${open}`]: ({ state }) => state === open,
    "nodejs.stream.errored": ({ state }) => state === "errored",
    "nodejs.webstream.isClosedPromise": (state) => ({ promise: ended(state), resolve() {}, reject() {} }),
    "nodejs.webstream.controllerErrorFunction": ({ controller }) => (reason: unknown) => controller.error(reason),
  };
  if (open === "readable") answers["nodejs.stream.disturbed"] = ({ disturbed }) => disturbed;
  for (const [name, answer] of Object.entries(answers)) {
    defineAnswer(prototype, name, (stream) => {
      const state = stateOf(stream);
      if (state === undefined) throw mustBe("the stream", "one of @millrace/streams");
      return answer(state);
    });
  }
}

/** Deno makes an empty body of the global class and closes it from within. One with a source it cancels so. */
export function closeIfEmpty(state: ReadableStreamState): void {
  if (!isEmpty(state)) return;
  state.feed = undefined; // its side is closed
  readableStreamClose(state);
}

/** Whether a stream is open, and has no source that could give it anything. */
function isEmpty(state: AskedState): state is ReadableStreamState {
  if (!(state instanceof ReadableStreamState) || state.state !== "readable") return false;
  const { source } = state.controller;
  return source instanceof UnderlyingSourceAlgorithms && source.isNone;
}

/** Returns a promise that settles when the stream has closed or errored. */
export function ended(state: AskedState): Promise<void> {
  if (state.ended === undefined) {
    state.ended = new LazyPromise();
    settleIfEnded(state, state.ended);
  }
  return state.ended.promise;
}

function settleIfEnded({ state, storedError }: AskedState, ended: EndedPromise): void {
  if (state === "closed") ended.resolve();
  else if (state === "errored") ended.reject(storedError);
}

/** Deno's constructors set some of these, for their side of the stream: the setter lets that pass. */
function defineAnswer(prototype: object, name: string, answer: (stream: object) => unknown): void {
  Object.defineProperty(prototype, Symbol.for(name), {
    get(this: object): unknown {
      return answer(this);
    },
    set(): void {},
    configurable: true,
  });
}
