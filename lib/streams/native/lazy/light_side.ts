import {
  isNativeReadableStreamLocked,
  nativeClass,
  NativeReadableStream,
  NativeReadableStreamDefaultReader,
} from "../../language/native_classes.ts";
import { attempt, promiseResolvedWith } from "../../language/promises.ts";
import { DefaultControllerState } from "../../readable/default_controller_state.ts";
import { readableStreamDefaultReaderRead, type ReadRequest } from "../../readable/stream_state.ts";
import type { ReadableStreamState } from "../../readable/stream_state.ts";
import { type NativeController, NO_BUFFER, ReadableFeed, releaseReadableFeed } from "../feeds/readable_feed.ts";

const { prototype } = nativeClass("ReadableStreamDefaultController", "enqueue");

/** The name under which Deno's readers ask a controller of theirs for a chunk. */
export const PULL_STEPS: symbol = stepsNamed("[[PullSteps]]");
/** The name of what they call when they are released. */
export const RELEASE_STEPS: symbol = stepsNamed("[[ReleaseSteps]]");
/** The name of what they call to cancel the source. */
const CANCEL_STEPS: symbol = stepsNamed("[[CancelSteps]]");

/** A native controller of Deno's. */
export type AskedController = NativeController & {
  [steps: symbol]: (argument?: unknown) => unknown;
};

/** Whether the runtime's controllers have all these names. */
export const hasSteps: boolean = [PULL_STEPS, RELEASE_STEPS, CANCEL_STEPS].every((name) => name in prototype);

function stepsNamed(name: string): symbol {
  const symbols = Object.getOwnPropertySymbols(prototype);
  return symbols.find(({ description }) => description === name) ?? Symbol(name);
}

/**
 * The pull steps of our own controller, for a request of a native reader: requests have the same methods there as ours, so
 * they can wait in our stream itself, without a call of `pull()`, and a microtask, for each.
 */
export function readDirectly(feed: ReadableFeed, controller: NativeController, request: ReadRequest): void {
  let reader;
  try {
    reader = feed.lockStream();
  } catch (error) { // as of a pull that throws
    controller.error(error);
    request.errorSteps(error);
    return;
  }
  readableStreamDefaultReaderRead(reader, request);
}

type Properties = Record<PropertyKey, unknown>;

/** The name under which Deno's streams have the promise of their end; nobody asks a native side for it. */
const CLOSED_PROMISE = Symbol.for("nodejs.webstream.isClosedPromise");
const FEED = Symbol("feed");

/** A stream of Deno's and its controller, from which light ones inherit all that they have not written themselves. */
interface Template {
  readonly stream: object;
  readonly controller: AskedController;
  /** The names under which they have each other. */
  readonly controllerKey: PropertyKey;
  readonly streamKey: PropertyKey;
}

/** A controller of a light side; `pull()` of its feed is never called, as nothing waits there. */
type LightController = AskedController & { [FEED]: ReadableFeed };

let template: Template | undefined;
let isKnown = false;

/**
 * Makes the native side of a stream without Deno's constructor, which takes longer than all the rest of a short
 * `Response` (700 ns): an object that inherits from a stream of Deno's, whose controller inherits from that one's, with
 * steps of ours. Returns `undefined` for a byte stream, and where the runtime's streams are not like that.
 */
export function lightSideOf(state: ReadableStreamState): object | undefined {
  if (!hasSteps || !(state.controller instanceof DefaultControllerState)) return undefined;
  if (!isKnown) {
    isKnown = true;
    template = checkedTemplate();
  }
  if (template === undefined) return undefined;
  const { stream, controller } = lightPair(template);
  const feed = new ReadableFeed(state, undefined);
  controller[FEED] = feed;
  feed.watch(controller);
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

/** Whether the runtime reads, releases, closes and cancels a light stream by our steps. */
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
