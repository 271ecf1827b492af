import { isTunedToBun } from "#streams/host";
import {
  isNativeReadableStreamLocked,
  nativeClass,
  NativeReadableStream,
  NativeReadableStreamDefaultReader,
  NativeWritableStream,
} from "../../language/native_classes.ts";
import { attempt, Deferred, markAsHandled, promiseResolvedWith } from "../../language/promises.ts";
import { DefaultControllerState } from "../../readable/default_controller_state.ts";
import {
  readableStreamDefaultReaderRead,
  type ReadableStreamState,
  type ReadRequest,
} from "../../readable/stream_state.ts";
import { isClosingOrClosed, type WritableStreamState } from "../../writable/stream_state.ts";
import { type NativeController, NativeReadableSource, NO_BUFFER, releaseReadableFeed } from "../feeds/readable_feed.ts";
import type { NativeWritableSink } from "../feeds/writable_feed.ts";
import { showState } from "./native_prototype.ts";
import { ended } from "./node_interop.ts";

const { prototype } = nativeClass("ReadableStreamDefaultController", "enqueue");
const { abort, close } = NativeWritableStream.prototype;

/** The name of the method by which Deno's readers pull from a controller. */
const PULL_STEPS: symbol = stepsNamed("[[PullSteps]]");
/** The name of the method that Deno's readers call when they are released. */
const RELEASE_STEPS: symbol = stepsNamed("[[ReleaseSteps]]");
/** The name of the method that Deno's readers call to cancel the source. */
const CANCEL_STEPS: symbol = stepsNamed("[[CancelSteps]]");

/** A native controller in Deno. */
type AskedController = NativeController & {
  [steps: symbol]: (argument?: unknown) => unknown;
};

/** Whether the runtime's controllers have the three methods. */
const hasSteps: boolean = [PULL_STEPS, RELEASE_STEPS, CANCEL_STEPS].every((name) => name in prototype);

function stepsNamed(name: string): symbol {
  const symbols = Object.getOwnPropertySymbols(prototype);
  return symbols.find(({ description }) => description === name) ?? Symbol(name);
}

/**
 * Runs the pull steps for requests of native readers. Deno's requests have the same methods as this package's, so they
 * wait in the state's own queue, without a call of `pull()` and a microtask for each.
 */
function readDirectly(feed: NativeReadableSource, controller: NativeController, request: ReadRequest): void {
  let reader;
  try {
    reader = feed.lockStream();
  } catch (error) { // the source's pull() has thrown
    controller.error(error);
    request.errorSteps(error);
    return;
  }
  readableStreamDefaultReaderRead(reader, request);
}

type Properties = Record<PropertyKey, unknown>;

/** The name of the property with the promise of a Deno stream's end; native sides do not use it. */
const CLOSED_PROMISE = Symbol.for("nodejs.webstream.isClosedPromise");
const FEED = Symbol("feed");

/** A Deno stream and its controller, from which light sides inherit all properties that they do not write. */
interface Template {
  readonly stream: object;
  readonly controller: AskedController;
  /** The names of the properties by which the stream and its controller refer to each other. */
  readonly controllerKey: PropertyKey;
  readonly streamKey: PropertyKey;
}

/** A controller of a light side. Requests wait in the state, so that its feed's `pull()` is never called. */
type LightController = AskedController & { [FEED]: NativeReadableSource };

let template: Template | undefined;
let isKnown = false;

/**
 * Makes the native side of a stream without Deno's constructor, which takes 700 ns, more than the rest of a short
 * `Response`. The object inherits from a Deno stream, and its controller from that stream's controller, with other
 * steps. Returns `undefined` for a byte stream, and where the runtime's streams differ from Deno's.
 */
export function lightSideOf(state: ReadableStreamState): object | undefined {
  if (!hasSteps || !(state.controller instanceof DefaultControllerState)) return undefined;
  if (!isKnown) {
    isKnown = true;
    template = checkedTemplate();
  }
  if (template === undefined) return undefined;
  const { stream, controller } = lightPair(template);
  const feed = new WatchedReadableFeed(state, undefined);
  controller[FEED] = feed;
  feed.start(controller);
  return stream;
}

function lightPair({ stream, controller, controllerKey, streamKey }: Template): {
  stream: Properties;
  controller: LightController;
} {
  const lightStream = Object.create(stream) as Properties;
  const lightController = Object.create(controller);
  lightStream[controllerKey] = lightController;
  lightController[streamKey] = lightStream;
  return { stream: lightStream, controller: lightController };
}

function checkedTemplate(): Template | undefined {
  let own: unknown;
  const stream = new NativeReadableStream({ start: (controller) => void (own = controller) }, NO_BUFFER);
  const controller = own as AskedController;
  const controllerKey = keyOf(stream, controller);
  const streamKey = keyOf(controller, stream);
  if (controllerKey === undefined || streamKey === undefined) return undefined;
  const ended = { promise: promiseResolvedWith(undefined), resolve(): void {}, reject(): void {} };
  Object.defineProperty(stream, CLOSED_PROMISE, { value: ended });
  controller[PULL_STEPS] = function (this: LightController, request) {
    readDirectly(this[FEED], this, request as ReadRequest);
  };
  controller[RELEASE_STEPS] = function (this: LightController) {
    releaseReadableFeed(this[FEED].stream);
  };
  controller[CANCEL_STEPS] = function (this: LightController, reason) {
    return attempt(() => this[FEED].cancel(reason));
  };
  const made = { stream, controller, controllerKey, streamKey };
  return isLikeNative(made) ? made : undefined;
}

function keyOf(object: object, value: unknown): PropertyKey | undefined {
  return Reflect.ownKeys(object).find((key) => Reflect.get(object, key) === value);
}

/** Whether a trial shows that the runtime reads, releases, closes and cancels a light stream by this module's steps. */
function isLikeNative(template: Template): boolean {
  const steps: unknown[] = [];
  const { stream, controller } = lightPair(template);
  for (const name of [PULL_STEPS, RELEASE_STEPS, CANCEL_STEPS]) {
    controller[name] = () => {
      steps.push(name);
      return promiseResolvedWith(undefined);
    };
  }
  try {
    const reader = (): ReadableStreamDefaultReader => new NativeReadableStreamDefaultReader(stream as never);
    const first = reader();
    if (!isNativeReadableStreamLocked(stream)) return false;
    void first.read();
    first.releaseLock();
    void reader().cancel();
    const closed = lightPair(template);
    (closed.controller as unknown as { close(): void }).close();
    return steps[0] === PULL_STEPS && steps[1] === RELEASE_STEPS && steps[2] === CANCEL_STEPS && steps.length === 3 &&
      keyOf(closed.stream, "closed") !== undefined;
  } catch {
    return false;
  }
}

/** The source of a native side whose state always follows the stream's. */
export class WatchedReadableFeed extends NativeReadableSource {
  /** Passes the stream's end and errors on to the native controller from now on. */
  start(controller: NativeController): void {
    this.nativeController = controller;
    this.stream.feed = this;
    this.closeSteps();
  }
}

/**
 * Makes the native side of a stream that is closing or errors, or has ended. The side is in the same state, by which a
 * native pipe decides at once whether to read its source.
 */
export function endedSideOf(stream: WritableStreamState, feed: NativeWritableSink): object | undefined {
  const { state, storedError, pendingAbortRequest } = stream;
  if (state === "writable") return isClosingOrClosed(stream) ? closingSide(feed) : undefined;
  const hasStarted = new Deferred<void>(); // nothing ends before
  const side = new NativeWritableStream({
    start(controller) {
      if (state !== "closed" && pendingAbortRequest === undefined) controller.error(storedError);
      return state === "erroring" ? ended(stream) : hasStarted.promise;
    },
    abort: () => pendingAbortRequest!.deferred.promise,
  }, NO_BUFFER);
  if (pendingAbortRequest !== undefined) markAsHandled(abort.call(side, storedError));
  if (state === "erroring" || showState(side, state)) return side;
  hasStarted.resolve();
  return state === "closed" ? closingSide({}) : side;
}

/** Makes a native side that is closing; it has no room, as Node's pipes write to a closing stream that has. */
function closingSide(sink: UnderlyingSink): object {
  const side = new NativeWritableStream(sink, NO_BUFFER);
  markAsHandled(close.call(side));
  return side;
}

/** The feed of native sides that are created with every stream; on Bun, a new stream without `start()` takes 5% less time. */
export const EagerFeed: typeof NativeReadableSource = isTunedToBun ? NativeReadableSource : WatchedReadableFeed;
