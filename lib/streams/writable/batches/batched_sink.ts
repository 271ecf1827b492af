import { callbackResult } from "../../language/promises.ts";
import { type Callback, toCallback, toDictionary } from "../../language/webidl.ts";
import type { WritableStreamDefaultController } from "../default_controller.ts";
import type { Batch } from "./batch.ts";
import { Retries, toDelay } from "./retries.ts";

/** A sink of ours takes a batch by this method, in place of `writev()`: in the arrays that it came in, not in one. */
export const WRITE_PARTS: unique symbol = Symbol("writeParts");

/** An underlying sink that takes batches, after conversion, with the algorithms that it gives. */
export class BatchedSinkAlgorithms {
  /** The most that one call gets, in the strategy's unit. */
  readonly maxBatch: number;
  /** How long the first chunk of a batch waits for others, in ms; undefined if until the end of the turn. */
  readonly maxDelay: number | undefined;
  /** As much that a batch does not wait for more. */
  readonly minBatch: number;
  readonly #sink: unknown;
  #controller: object | undefined = undefined;
  readonly #abort: Callback | undefined;
  readonly #close: Callback | undefined;
  readonly #start: Callback | undefined;
  readonly #writev: Callback | undefined;
  readonly #writeParts: Callback | undefined;
  /** The handling of batches that fail, if the sink asks for it. */
  readonly #retries: Retries | undefined;

  /**
   * Reads the dictionary's members in the order of their names.
   *
   * @throws {TypeError} if one is of the wrong type, or the sink has a `write` in place of a `writev`.
   * @throws {RangeError} if a number is out of its range, or the sink has a `type`.
   */
  constructor(value: unknown) {
    this.#sink = value;
    const sink = toDictionary(value, "the underlying sink") ?? {};
    this.#abort = toCallback(sink.abort, "the underlying sink's abort");
    this.#close = toCallback(sink.close, "the underlying sink's close");
    this.maxBatch = toSize("maxBatch", sink.maxBatch);
    this.maxDelay = sink.maxDelay === undefined ? undefined : toDelay("maxDelay", sink.maxDelay);
    this.minBatch = Math.min(this.maxBatch, toSize("minBatch", sink.minBatch));
    if (sink.minBatch !== undefined && this.maxDelay === undefined) {
      throw new TypeError("minBatch needs a maxDelay: a batch would wait for ever for what never comes");
    }
    this.#retries = Retries.of(sink.retry, toCallback(sink.onFailed, "the underlying sink's onFailed"), value);
    this.#start = toCallback(sink.start, "the underlying sink's start");
    if (sink.type !== undefined) {
      throw new RangeError("the underlying sink's type must be undefined: the name is reserved");
    }
    this.#writev = toCallback(sink.writev, "the underlying sink's writev");
    this.#writeParts = (sink as { [WRITE_PARTS]?: Callback })[WRITE_PARTS];
    if (this.#writev === undefined && sink.write !== undefined) {
      throw new TypeError("the underlying sink has a write() but no writev(chunks, controller): use a WritableStream");
    }
  }

  /** Calls start with the controller that writev will get. */
  callStart(controller: object): unknown {
    this.#controller = controller;
    return this.#start?.call(this.#sink, controller);
  }

  writev(batch: Batch, isLast: boolean): unknown {
    if (this.#writeParts !== undefined) return this.#writeParts.call(this.#sink, batch.takeParts());
    const writev = this.#writev;
    if (this.#retries === undefined || writev === undefined) {
      return writev?.call(this.#sink, batch.takeChunks(), this.#controller, isLast);
    }
    const controller = this.#controller as WritableStreamDefaultController;
    const write = (chunks: unknown[]) => writev.call(this.#sink, chunks, controller, isLast);
    return this.#retries.write(batch.takeChunks(), write, controller.signal);
  }

  close(): unknown {
    return callbackResult(this.#close?.call(this.#sink));
  }

  abort(reason: unknown): unknown {
    return callbackResult(this.#abort?.call(this.#sink, reason));
  }
}

function toSize(name: string, value: unknown): number {
  if (value === undefined) return Infinity;
  const size = +(value as number);
  if (!(size > 0)) throw new RangeError(`${name} must be above 0, not ${String(value)}`);
  return size;
}
