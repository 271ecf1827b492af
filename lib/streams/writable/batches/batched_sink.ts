import { callbackResult } from "../../language/promises.ts";
import { type Callback, toCallback, toDictionary } from "../../language/webidl.ts";
import type { Batch } from "./batch.ts";

/** A sink of ours takes a batch by this method, in place of `writev()`: in the arrays that it came in, not in one. */
export const WRITE_PARTS: unique symbol = Symbol("writeParts");

/** An underlying sink that takes batches, after conversion, with the algorithms that it gives. */
export class BatchedSinkAlgorithms {
  /** The most that one call gets, in the strategy's unit. */
  readonly maxBatch: number;
  readonly #sink: unknown;
  #controller: object | undefined = undefined;
  readonly #abort: Callback | undefined;
  readonly #close: Callback | undefined;
  readonly #start: Callback | undefined;
  readonly #writev: Callback | undefined;
  readonly #writeParts: Callback | undefined;

  /**
   * Reads the dictionary's members in the order of their names.
   *
   * @throws {TypeError} if one is of the wrong type, or the sink has a `write` in place of a `writev`.
   * @throws {RangeError} if `maxBatch` is not above 0, or the sink has a `type`.
   */
  constructor(value: unknown) {
    this.#sink = value;
    const sink = toDictionary(value, "the underlying sink") ?? {};
    this.#abort = toCallback(sink.abort, "the underlying sink's abort");
    this.#close = toCallback(sink.close, "the underlying sink's close");
    this.maxBatch = toMaxBatch(sink.maxBatch);
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
    return this.#writev?.call(this.#sink, batch.takeChunks(), this.#controller, isLast);
  }

  close(): unknown {
    return callbackResult(this.#close?.call(this.#sink));
  }

  abort(reason: unknown): unknown {
    return callbackResult(this.#abort?.call(this.#sink, reason));
  }
}

function toMaxBatch(value: unknown): number {
  if (value === undefined) return Infinity;
  const maxBatch = +(value as number);
  if (!(maxBatch > 0)) throw new RangeError(`maxBatch must be above 0, not ${String(value)}`);
  return maxBatch;
}
