import { checkedSize, ChunkQueue } from "../chunk_queue.ts";
import {
  isThenableLike,
  newPromiseResolvedWith,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  react,
  settle,
} from "../promises.ts";
import { PARKED } from "../parked.ts";
import type { RecyclingSource } from "../recycling.ts";
import type { SizeAlgorithm } from "../strategies.ts";
import type { Callback } from "../webidl.ts";
import type { ByteControllerState } from "./byte_controller_state.ts";
import type { ReadRequest } from "./read_requests.ts";
import type { DefaultReaderState } from "./reader_state.ts";
import { readableStreamClose, readableStreamError, ReadableStreamState } from "./stream_state.ts";

/** The algorithms of a readable stream: a user's underlying source, or one of ours. */
export interface SourceAlgorithms {
  /** Returns a promise, or anything else when it is done, or PARKED if it calls `onPulled` itself; it may throw. */
  pull(): unknown;
  /** Returns a promise or a value; it may throw. */
  cancel(reason: unknown): unknown;
  /** What takes the memory of chunks back, once nobody uses them any longer. */
  readonly recycler?: RecyclingSource | undefined;
  /**
   * Gives a pipe up to so many chunks at once, while it goes on, in an array for it to keep. Errors the stream itself;
   * what it cannot give in this way it leaves to the next `pull()`.
   */
  pullRun?(most: number, pipe: RunningPipe): unknown[];
}

/** What asks for a run of chunks. */
export interface RunningPipe {
  /** Whether it still wants chunks; code of users, called for one, may have ended that. */
  readonly wantsChunks: boolean;
}

/** How the end of a pull that returned no promise is dealt with. */
export const REACTS = 0;
export const MAY_BE_HELD = 1;
export const IS_HELD = 2;

/** Takes the place of a source that will not be called again, so that it can be collected. */
export const CLEARED_SOURCE: SourceAlgorithms = { pull() {}, cancel() {} };

/**
 * The internal slots of a ReadableStreamDefaultController.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-default-controller-class}
 */
export class DefaultControllerState {
  readonly stream: ReadableStreamState;
  source: SourceAlgorithms;
  readonly queue: ChunkQueue = new ChunkQueue();
  readonly highWaterMark: number;
  sizeAlgorithm: SizeAlgorithm;
  started = false;
  closeRequested = false;
  pulling = false;
  pullAgain = false;
  /** See {@linkcode readBufferedHoldingPull}. */
  pullEnd: typeof REACTS | typeof MAY_BE_HELD | typeof IS_HELD = REACTS;
  /** What follows start and each pull; bound once for each stream. */
  #onPulled: (() => void) | undefined = undefined;
  #onPullFailed: ((error: unknown) => void) | undefined = undefined;

  constructor(
    stream: ReadableStreamState,
    source: SourceAlgorithms,
    highWaterMark: number,
    sizeAlgorithm: SizeAlgorithm,
  ) {
    this.stream = stream;
    this.source = source;
    this.highWaterMark = highWaterMark;
    this.sizeAlgorithm = sizeAlgorithm;
  }

  get onPulled(): () => void {
    return this.#onPulled ??= () => {
      this.pulling = false;
      if (!this.started) this.started = true;
      else if (!this.pullAgain) return;
      this.pullAgain = false;
      readableStreamDefaultControllerCallPullIfNeeded(this);
    };
  }

  get onPullFailed(): (error: unknown) => void {
    return this.#onPullFailed ??= (error) => readableStreamDefaultControllerError(this, error);
  }

  /** Whether a read would be served at once. */
  get hasBuffered(): boolean {
    return this.queue.length > 0;
  }

  /** The part of [[PullSteps]] that serves a read from the queue; `hasBuffered` must hold. */
  readBuffered(): unknown {
    const chunk = this.queue.dequeue();
    this.afterDequeue();
    return chunk;
  }

  /** What follows when chunks have left the queue. */
  afterDequeue(): void {
    if (this.closeRequested && this.queue.length === 0) {
      this.source = CLEARED_SOURCE;
      readableStreamClose(this.stream);
    } else {
      readableStreamDefaultControllerCallPullIfNeeded(this);
    }
  }

  /** @see {@link https://streams.spec.whatwg.org/#rs-default-controller-private-pull} */
  pullSteps(request: ReadRequest): void {
    if (this.queue.length > 0) {
      request.chunkSteps(this.readBuffered());
    } else {
      (this.stream.reader as DefaultReaderState).requests.push(request);
      readableStreamDefaultControllerCallPullIfNeeded(this);
    }
  }

  /** @see {@link https://streams.spec.whatwg.org/#rs-default-controller-private-cancel} */
  cancelSteps(reason: unknown): Promise<unknown> {
    this.queue.reset();
    const { source } = this;
    this.source = CLEARED_SOURCE;
    return cancelSource(source, reason);
  }

  releaseSteps(): void {}

  error(error: unknown): void {
    readableStreamDefaultControllerError(this, error);
  }

  /** Whether a pipe that finds nothing buffered may ask the source for a run of chunks. */
  get canPullRun(): boolean {
    return this.source.pullRun !== undefined && this.started && !this.pulling && !this.closeRequested;
  }

  /** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-should-call-pull} */
  shouldCallPull(): boolean {
    if (!this.started || this.closeRequested) return false;
    const { state, reader } = this.stream;
    if (state !== "readable") return false;
    if (reader !== undefined && reader.requests.length > 0) return true;
    return this.highWaterMark - this.queue.totalSize > 0;
  }
}

/** Calls a source's cancel algorithm; what it throws becomes a rejection. */
export function cancelSource(source: SourceAlgorithms, reason: unknown): Promise<unknown> {
  try {
    return promiseResolvedWith(source.cancel(reason));
  } catch (error) {
    return promiseRejectedWith(error);
  }
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-call-pull-if-needed} */
export function readableStreamDefaultControllerCallPullIfNeeded(controller: DefaultControllerState): void {
  if (!controller.shouldCallPull()) return;
  if (controller.pulling) {
    controller.pullAgain = true;
    return;
  }
  controller.pulling = true;
  callPull(controller);
}

/** How often a pull that a pipe asked for is repeated at once, before other code gets its turn. */
const MOST_PULLS_AT_ONCE = 64;

/**
 * Calls the source's pull, and reacts to its end as its promise would have: a microtask later, or, if a pipe reads and
 * the source returned no promise, at once.
 */
export function callPull(controller: DefaultControllerState | ByteControllerState): void {
  const result = pullFrom(controller);
  if (result !== undefined) {
    endPull(controller, result);
    return;
  }
  const { reader } = controller.stream;
  if (reader === undefined || !reader.fused) reactToPull(controller);
  else if (controller.pullAgain) endPull(controller, undefined);
  else controller.pulling = false;
}

function reactToPull(controller: DefaultControllerState | ByteControllerState): void {
  if (controller.pullEnd === MAY_BE_HELD) controller.pullEnd = IS_HELD;
  else queueReaction(controller.onPulled);
}

function pullFrom(controller: DefaultControllerState | ByteControllerState): unknown {
  try {
    return controller.source.pull();
  } catch (error) {
    return promiseRejectedWith(error);
  }
}

function endPull(controller: DefaultControllerState | ByteControllerState, firstResult: unknown): void {
  let result = firstResult;
  for (let pulls = 1;; pulls++) {
    if (result === PARKED) return;
    if (isThenableLike(result)) {
      settle(result, controller.onPulled, controller.onPullFailed);
      return;
    }
    const { reader } = controller.stream;
    if (reader === undefined || !reader.fused || pulls === MOST_PULLS_AT_ONCE) {
      reactToPull(controller);
      return;
    }
    if (!controller.pullAgain || !controller.shouldCallPull()) {
      controller.pulling = false;
      controller.pullAgain = false;
      return;
    }
    controller.pullAgain = false;
    result = pullFrom(controller);
  }
}

/**
 * Reads a chunk that is buffered for somebody who will queue a reaction of their own at once. If the read pulled, and
 * the source returned no promise, the reaction to that would be queued just before theirs; this holds it back, to be run
 * first in theirs, and saves a microtask.
 */
export function readBufferedHoldingPull(
  controller: DefaultControllerState | ByteControllerState,
): unknown {
  controller.pullEnd = MAY_BE_HELD;
  return controller.readBuffered();
}

/** The steps that {@linkcode readBufferedHoldingPull} has held back, if any; to be asked for right after it. */
export function takeHeldPull(controller: DefaultControllerState | ByteControllerState): (() => void) | undefined {
  const isHeld = controller.pullEnd === IS_HELD;
  controller.pullEnd = REACTS;
  return isHeld ? controller.onPulled : undefined;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-close} */
export function readableStreamDefaultControllerClose(controller: DefaultControllerState): void {
  if (!readableStreamDefaultControllerCanCloseOrEnqueue(controller)) return;
  controller.closeRequested = true;
  if (controller.queue.length > 0) return;
  controller.source = CLEARED_SOURCE;
  readableStreamClose(controller.stream);
}

/**
 * @throws what the size algorithm threw, or a RangeError for a size that is no size.
 * @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-enqueue}
 */
export function readableStreamDefaultControllerEnqueue(controller: DefaultControllerState, chunk: unknown): void {
  if (!readableStreamDefaultControllerCanCloseOrEnqueue(controller)) return;
  enqueueWithoutPull(controller, chunk);
  readableStreamDefaultControllerCallPullIfNeeded(controller);
}

/** The same but for its first step, which the caller has done, and its last, which it will do. */
export function enqueueWithoutPull(controller: DefaultControllerState, chunk: unknown): void {
  const reader = controller.stream.reader as DefaultReaderState | undefined;
  if (reader !== undefined && reader.requests.length > 0) {
    reader.requests.shift().chunkSteps(chunk);
  } else if (controller.sizeAlgorithm === undefined) {
    controller.queue.enqueue(chunk, 1);
  } else {
    enqueueWithSize(controller, chunk, controller.sizeAlgorithm);
  }
}

function enqueueWithSize(controller: DefaultControllerState, chunk: unknown, sizeAlgorithm: Callback): void {
  let size: number;
  try {
    size = checkedSize(sizeAlgorithm.call(undefined, chunk));
  } catch (error) {
    readableStreamDefaultControllerError(controller, error);
    throw error;
  }
  if (controller.stream.state === "readable") controller.queue.enqueue(chunk, size); // it may have ended the stream
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-error} */
export function readableStreamDefaultControllerError(controller: DefaultControllerState, error: unknown): void {
  if (controller.stream.state !== "readable") return;
  controller.queue.reset();
  controller.source = CLEARED_SOURCE;
  readableStreamError(controller.stream, error);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-get-desired-size} */
export function readableStreamDefaultControllerGetDesiredSize(controller: DefaultControllerState): number | null {
  const { state } = controller.stream;
  if (state === "errored") return null;
  return state === "closed" ? 0 : controller.highWaterMark - controller.queue.totalSize;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-can-close-or-enqueue} */
export function readableStreamDefaultControllerCanCloseOrEnqueue(controller: DefaultControllerState): boolean {
  return !controller.closeRequested && controller.stream.state === "readable";
}

/** The end of every set-up: pulls once start has settled. */
export function startReadableStreamDefaultController(controller: DefaultControllerState, startResult: unknown): void {
  if (isThenableLike(startResult)) {
    react(newPromiseResolvedWith(startResult), controller.onPulled, controller.onPullFailed);
  } else {
    queueReaction(controller.onPulled);
  }
}

/** @see {@link https://streams.spec.whatwg.org/#create-readable-stream} */
export function createReadableStream(source: SourceAlgorithms, highWaterMark: number): ReadableStreamState {
  const stream = new ReadableStreamState();
  stream.controller = new DefaultControllerState(stream, source, highWaterMark, undefined);
  startReadableStreamDefaultController(stream.controller, undefined);
  return stream;
}
