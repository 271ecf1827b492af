// The answers that `node:stream` wants of a web stream, under registered symbols, for `finished()`, `isDisturbed()` …
// Node's own streams answer for their native side, of which that of this package is empty.
import { mustBe } from "../../language/errors.ts";
import { type EndedPromise, LazyPromise, markAsHandled } from "../../language/promises.ts";
import { readableStreamClose, type ReadableStreamState } from "../../readable/stream_state.ts";
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

let isOwn: boolean | undefined;

/** Lets a state settle the promise that the runtime's constructor gave its stream, if it did. */
export function adoptOwnClosedPromise(state: AskedState, stream: object): void {
  isOwn ??= Object.hasOwn(stream, CLOSED_PROMISE);
  if (!isOwn) return;
  state.ended = new OwnClosedPromise((stream as Record<symbol, EndedPromise>)[CLOSED_PROMISE]);
  settleIfEnded(state, state.ended);
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
  const { source } = state.controller;
  if (!(source instanceof UnderlyingSourceAlgorithms && source.isNone)) return;
  state.feed = undefined; // its side is closed
  readableStreamClose(state);
}

/** A promise that settles when the stream has closed or errored. */
function ended(state: AskedState): Promise<void> {
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
