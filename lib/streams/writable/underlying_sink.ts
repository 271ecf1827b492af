import { outOfRange, wrongThis } from "../language/errors.ts";
import { showInNode } from "#streams/inspection";
import { defineInterface, isObject, requireState } from "../language/webidl.ts";
import { writableStreamDefaultControllerErrorIfNeeded } from "./controller_state.ts";
import { callbackResult } from "../language/promises.ts";
import { type Callback, passState, toCallback, toDictionary } from "../language/webidl.ts";
import type { SinkAlgorithms, WritableControllerState } from "./controller_state.ts";

/**
 * An underlying sink: the destination of a stream's chunks.
 *
 * @see {@link https://streams.spec.whatwg.org/#underlying-sink-api}
 * @example A sink that keeps what it counts
 * ```ts
 * import { ReadableStream, type UnderlyingSink, WritableStream } from "@millrace/streams/streams";
 *
 * class Counter implements UnderlyingSink<string> {
 *   lines = 0;
 *   write(): void {
 *     this.lines++;
 *   }
 * }
 * const counter = new Counter();
 * await ReadableStream.from(["a", "b", "c"]).pipeTo(new WritableStream(counter));
 * console.log(counter.lines); // 3
 * ```
 */
export interface UnderlyingSink<W = unknown> {
  /** Called when the stream is aborted: releases the sink's resources without finishing. */
  abort?: (reason: unknown) => void | PromiseLike<void>;
  /** Called when the stream is closed and all chunks are written. */
  close?: () => void | PromiseLike<void>;
  /** Called when the stream is created. Writing starts once the promise that it returns has settled. */
  start?: (controller: WritableStreamDefaultController) => unknown;
  /** Must be undefined: the standard reserves the name. */
  type?: undefined;
  /** Called with each chunk, and with the next one once the returned promise has settled. */
  write?: (chunk: W, controller: WritableStreamDefaultController) => void | PromiseLike<void>;
}

/** A converted {@link https://streams.spec.whatwg.org/#dictdef-underlyingsink UnderlyingSink} with its algorithms. */
export class UnderlyingSinkAlgorithms implements SinkAlgorithms {
  readonly #sink: unknown;
  #state: WritableControllerState | undefined;
  /** The public controller; created when the sink first needs it. */
  #controller: WritableStreamDefaultController | undefined;
  #abort: Callback | undefined;
  #close: Callback | undefined;
  #start: Callback | undefined;
  #write: Callback | undefined;

  /** Reads the members in the order of their names; throws a RangeError for a `type`. */
  constructor(value: unknown) {
    this.#sink = value;
    const sink = toDictionary(value, "the underlying sink");
    this.#abort = toCallback(sink.abort, "the underlying sink's abort");
    this.#close = toCallback(sink.close, "the underlying sink's close");
    this.#start = toCallback(sink.start, "the underlying sink's start");
    const { type } = sink;
    this.#write = toCallback(sink.write, "the underlying sink's write");
    if (type !== undefined) throw outOfRange("the underlying sink's type must be undefined: the name is reserved");
  }

  /** Calls start with the controller that the other algorithms will get. */
  callStart(state: WritableControllerState): unknown {
    this.#state = state;
    return this.#start?.call(this.#sink, this.#makeController());
  }

  write(chunk: unknown): unknown {
    return this.#write?.call(this.#sink, chunk, this.#controller ?? this.#makeController());
  }

  close(): unknown {
    return callbackResult(this.#close?.call(this.#sink));
  }

  abort(reason: unknown): unknown {
    return callbackResult(this.#abort?.call(this.#sink, reason));
  }

  #makeController(): WritableStreamDefaultController {
    passState(this.#state!);
    return this.#controller = new WritableStreamDefaultController();
  }
}

/**
 * Gives an underlying sink the control of its stream.
 *
 * @see {@link https://streams.spec.whatwg.org/#ws-default-controller-class}
 * @example Refuse a chunk, and with it the stream
 * ```ts
 * import { WritableStream } from "@millrace/streams/streams";
 *
 * const stream = new WritableStream<string>({
 *   write(chunk, controller) {
 *     if (chunk === "") controller.error(new RangeError("no empty chunks, please"));
 *   },
 * });
 * const writer = stream.getWriter();
 * await writer.write("");
 * console.log(await writer.closed.catch((error) => error.message)); // no empty chunks, please
 * ```
 */
export class WritableStreamDefaultController {
  readonly #state: WritableControllerState;

  /** @throws {TypeError} always: streams make their controllers. */
  constructor() {
    this.#state = requireState();
  }

  /** Aborted, with the same reason, when the stream is aborted, even during a write. */
  get signal(): AbortSignal {
    return WritableStreamDefaultController.#of(this).signal;
  }

  /** Errors the stream: queued writes are dropped, and all later operations fail with `error`. */
  error(error: unknown = undefined): void {
    writableStreamDefaultControllerErrorIfNeeded(WritableStreamDefaultController.#of(this), error);
  }

  static #of(value: unknown): WritableControllerState {
    if (!isObject(value) || !(#state in value)) throw wrongThis("WritableStreamDefaultController");
    return (value as WritableStreamDefaultController).#state;
  }
}
defineInterface(WritableStreamDefaultController, "WritableStreamDefaultController");
showInNode(WritableStreamDefaultController, "signal");
