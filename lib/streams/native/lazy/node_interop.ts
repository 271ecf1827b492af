// The members of web streams that `node:stream` reads, under registered symbols, for `finished()`, `isDisturbed()` …
// Node's own streams answer for their native side, which is empty here.
import { mustBe } from "../../language/errors.ts";
import { type EndedPromise, LazyPromise, noop, react } from "../../language/promises.ts";
import { readableStreamClose, ReadableStreamState } from "../../readable/stream_state.ts";
import { UnderlyingSourceAlgorithms } from "../../readable/underlying_source.ts";

const CLOSED_PROMISE = Symbol.for("nodejs.webstream.isClosedPromise");

/** Has a state settle the promise that Deno's constructors store as an own property, out of the prototype's reach. */
export function adoptOwnClosedPromise(state: AskedState, stream: object): void {
  if (!Object.hasOwn(stream, CLOSED_PROMISE)) return;
  const own = state.ended = (stream as Record<symbol, EndedPromise>)[CLOSED_PROMISE];
  settleIfEnded(state, own);
  react(own.promise, () => closeIfEmpty(state), noop);
}

/** The state of a readable or writable stream, as far as these members need it. */
interface AskedState {
  readonly disturbed?: boolean;
  readonly state: string;
  readonly storedError: unknown;
  ended: EndedPromise | undefined;
  readonly controller: { error(error: unknown): void };
}

/** Adds the members that Node's stream functions read to a class. */
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

/** Closes an empty body, which Deno makes with the global class and closes internally; cancels a body with a source. */
export function closeIfEmpty(state: AskedState): void {
  if (!(state instanceof ReadableStreamState) || state.state !== "readable") return;
  const { source } = state.controller;
  if (!(source instanceof UnderlyingSourceAlgorithms && source.isNone)) return;
  state.feed = undefined; // the native side is closed already
  readableStreamClose(state);
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

/** Defines a member whose setter ignores values: Deno's constructors set some members for the native side. */
function defineAnswer(prototype: object, name: string, answer: (stream: object) => unknown): void {
  Object.defineProperty(prototype, Symbol.for(name), {
    get(this: object): unknown {
      return answer(this);
    },
    set(): void {},
    configurable: true,
  });
}
