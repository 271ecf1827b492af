import {
  attempt,
  isThenableLike,
  newPromiseResolvedWith,
  NO_ALGORITHMS,
  PENDING,
  promiseRejectedWith,
  promiseResolvedWith,
  queueReaction,
  react,
  settle,
} from "../language/promises.ts";
import { endedControllerError } from "../language/errors.ts";
import { Ring } from "../queuing/chunk_queue.ts";
import type { Task } from "../shortcuts/task.ts";
import type { ReadRequest } from "./stream_state.ts";
import { readableStreamClose, readableStreamError, type ReadableStreamState } from "./stream_state.ts";

/** The algorithms of a readable stream: a user's underlying source, or an internal one. */
export interface SourceAlgorithms {
  /** Returns a promise; or any other value if it is done; or PENDING if it calls `onPulled` later. May throw. */
  pull(): unknown;
  /** Returns a promise or a value; may throw. */
  cancel(reason: unknown): unknown;
  /** Called with the pipe that reads from the stream, and with undefined at the pipe's end. */
  pipedFrom?(pipe: Task | undefined): void;
}

/** The members that both kinds of queues share. */
interface ControllerQueue {
  readonly length: number;
  readonly totalSize: number;
  reset(): void;
}

/**
 * The internal slots and the operations that both controllers of a readable stream share.
 *
 * @see {@link https://streams.spec.whatwg.org/#rs-default-controller-class}
 * @see {@link https://streams.spec.whatwg.org/#rbs-controller-class}
 */
export abstract class ReadableControllerState {
  readonly stream: ReadableStreamState;
  source: SourceAlgorithms;
  readonly highWaterMark: number;
  started = false;
  closeRequested = false;
  pulling = false;
  pullAgain = false;
  /** The method `resume()` as a function, for promises; bound once for each stream. */
  #onPulled: (() => void) | undefined;
  #onPullFailed: ((error: unknown) => void) | undefined;
  abstract readonly queue: ControllerQueue;

  constructor(stream: ReadableStreamState, source: SourceAlgorithms, highWaterMark: number) {
    this.stream = stream;
    this.source = source;
    this.highWaterMark = highWaterMark;
  }

  /** Ends `start()` or a pull, and pulls again if needed. */
  resume(): void {
    this.pulling = false;
    if (!this.started) this.started = true;
    else if (!this.pullAgain) return;
    this.pullAgain = false;
    this.callPullIfNeeded();
  }

  get onPulled(): () => void {
    return this.#onPulled ??= () => this.resume();
  }

  get onPullFailed(): (error: unknown) => void {
    return this.#onPullFailed ??= (error) => this.error(error);
  }

  /** The type of the stream, as its constructor takes it. */
  get type(): "bytes" | undefined {
    return undefined;
  }

  /** Runs the last step of every set-up: pulls once `start()` has settled. */
  start(startResult: unknown): void {
    if (isThenableLike(startResult)) {
      react(newPromiseResolvedWith(startResult), this.onPulled, this.onPullFailed);
    } else {
      queueResume(this);
    }
  }

  /** Whether a default reader's read would be served at once. */
  get hasBuffered(): boolean {
    return this.queue.length > 0;
  }

  /** Runs the part of [[PullSteps]] that serves a read from the queue; `hasBuffered` must be true. */
  abstract readBuffered(): unknown;
  /** [[PullSteps]] */
  abstract pullSteps(request: ReadRequest): void;
  /** [[ReleaseSteps]] */
  abstract releaseSteps(): void;
  /** Enqueues a chunk that was read, without a pull. */
  abstract enqueueWithoutPull(chunk: unknown): void;

  /** [[CancelSteps]]; an exception of the source becomes a rejection. */
  cancelSteps(reason: unknown): Promise<unknown> {
    const { source } = this;
    this.clear();
    return attempt(() => promiseResolvedWith(source.cancel(reason)));
  }

  /** The standard's ResetQueue and ClearAlgorithms. */
  clear(): void {
    this.queue.reset();
    this.source = NO_ALGORITHMS;
  }

  /**
   * Closes the stream, or pulls if needed, after chunks have left the queue.
   *
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-handle-queue-drain}
   */
  afterDequeue(): void {
    if (this.closeRequested && this.queue.length === 0) this.finishClose();
    else this.callPullIfNeeded();
  }

  /** Closes the stream, whose queue must be empty. */
  finishClose(): void {
    this.source = NO_ALGORITHMS;
    readableStreamClose(this.stream);
  }

  /**
   * @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-close}
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-close}
   */
  close(): void {
    if (!this.canCloseOrEnqueue) return;
    this.closeRequested = true;
    if (this.queue.length === 0) this.finishClose();
  }

  /**
   * @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-error}
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-error}
   */
  error(error: unknown): void {
    if (this.stream.state !== "readable") return;
    this.clear();
    readableStreamError(this.stream, error);
  }

  /**
   * @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-get-desired-size}
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-get-desired-size}
   */
  get desiredSize(): number | null {
    const { state } = this.stream;
    if (state === "errored") return null;
    return state === "closed" ? 0 : this.highWaterMark - this.queue.totalSize;
  }

  /** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-can-close-or-enqueue} */
  get canCloseOrEnqueue(): boolean {
    return !this.closeRequested && this.stream.state === "readable";
  }

  /**
   * @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-should-call-pull}
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-should-call-pull}
   */
  shouldCallPull(): boolean {
    if (!this.started || this.closeRequested) return false;
    const { state, reader } = this.stream;
    if (state !== "readable") return false;
    if (reader !== undefined && reader.requests.length > 0) return true;
    return this.highWaterMark - this.queue.totalSize > 0;
  }

  /**
   * @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-call-pull-if-needed}
   * @see {@link https://streams.spec.whatwg.org/#readable-byte-stream-controller-call-pull-if-needed}
   */
  callPullIfNeeded(): void {
    if (!this.shouldCallPull()) return;
    if (this.pulling) {
      this.pullAgain = true;
      return;
    }
    this.pulling = true;
    callPull(this);
  }
}

/** Runs the check at the start of a controller's methods. @throws {TypeError} if the stream is closed or errored. */
export function checkCanCloseOrEnqueue(controller: ReadableControllerState, action: string): void {
  if (!controller.canCloseOrEnqueue) throw endedControllerError(action, controller.stream.state);
}

/*
 * The states of a pull. `pulling` is true from callPull() to the end of the pull; a request for another pull during it
 * sets `pullAgain`.
 *
 *     callPullIfNeeded()            only if shouldCallPull(), and no pull is pending
 *            |
 *        callPull() ---> source.pull() returned ...
 *            |
 *            |-- PENDING ..................... nothing: the source calls onPulled() itself
 *            |
 *            |-- a promise, or it threw ...... settle(): onPulled() or onPullFailed() when the promise has settled
 *            |
 *            `-- anything else ............... the effect of a resolved promise:
 *                  |
 *                  |-- the stream is ending ... nothing: there is no further pull
 *                  |
 *                  |-- a user reads .......... reactToPull(): onPulled() a microtask later
 *                  |
 *                  `-- no reader's read() .... the pull has ended: endPull() pulls again while another pull is requested,
 *                      waits for it            up to mostPullsAtOnce times, then as for a user
 *
 * onPulled() also follows start. It ends the pull, and calls callPullIfNeeded() if `pullAgain` is set.
 */

interface Continuation {
  resume(): void;
}

/** The controllers whose `start()` or pull has ended, in the order of the microtasks that call `resume()`. */
const ended = new Ring<Continuation>();
const onEnded = (): void => ended.shift().resume();

/** Schedules `resume()` one microtask later, without a function for each stream. */
export function queueResume(owner: Continuation): void {
  ended.push(owner);
  queueReaction(onEnded);
}

/** Calls pull, and resumes a microtask later like a reaction to its promise; for unobservable reads without a promise, at once. */
function callPull(controller: ReadableControllerState): void {
  const result = pullFrom(controller);
  if (result !== undefined) {
    endPull(controller, result);
    return;
  }
  const { reader } = controller.stream;
  if (!reader?.mostPullsAtOnce) reactToPull(controller);
  else if (controller.pullAgain) endPull(controller, undefined);
  else controller.pulling = false;
}

function reactToPull(controller: ReadableControllerState): void {
  if (!controller.canCloseOrEnqueue) controller.pulling = false; // the stream is ending: the timing cannot be observed
  else queueResume(controller);
}

function pullFrom(controller: ReadableControllerState): unknown {
  try {
    return controller.source.pull();
  } catch (error) {
    return promiseRejectedWith(error);
  }
}

function endPull(controller: ReadableControllerState, firstResult: unknown): void {
  let result = firstResult;
  for (let pulls = 1;; pulls++) {
    if (result !== undefined) { // this check comes first: batches of pulled chunks are a tenth faster
      if (result === PENDING) return;
      if (isThenableLike(result)) {
        settle(result, controller.onPulled, controller.onPullFailed);
        return;
      }
    }
    const { reader } = controller.stream;
    if (!reader || pulls >= reader.mostPullsAtOnce) {
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
