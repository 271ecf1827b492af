import { globalFunction } from "#streams/host";
import { callbackResult, isThenableLike } from "../../language/promises.ts";
import { type Callback, toCallback, toDictionary } from "../../language/webidl.ts";
import type { WritableStreamDefaultController } from "../default_controller.ts";
import type { Batch } from "./batch.ts";

/** Taken once, as for all that streams depend on: faked timers do not stop them. */
const [setTimeout, clearTimeout] = [globalFunction("setTimeout")!, globalFunction("clearTimeout")!];

/** The retries of batches that a sink could not write, or not all of, and the call of `onFailed` after the last. */
export class Retries {
  readonly #attempts: number;
  readonly #delay: number;
  readonly #onFailed: Callback | undefined;
  readonly #sink: unknown;

  private constructor(attempts: number, delay: number, onFailed: Callback | undefined, sink: unknown) {
    this.#attempts = attempts;
    this.#delay = delay;
    this.#onFailed = onFailed;
    this.#sink = sink;
  }

  /**
   * Takes the options of a sink; undefined if it has none of them.
   *
   * @throws {TypeError} if one is of the wrong type.
   * @throws {RangeError} if a number is out of its range.
   */
  static of(retry: unknown, onFailed: Callback | undefined, sink: unknown): Retries | undefined {
    if (retry === undefined && onFailed === undefined) return undefined;
    const { attempts = 0, delay = 1000 } = toDictionary(retry, "the underlying sink's retry") ?? {};
    return new Retries(toCount(attempts), toDelay("retry.delay", delay), onFailed, sink);
  }

  /**
   * Writes chunks, and again those of them that could not be written, as often as is asked.
   *
   * @param write Writes chunks; what it returns, or its promise gives, are the indexes of those that failed, if any.
   * @param signal Ends the waiting.
   */
  async write(chunks: unknown[], write: (chunks: unknown[]) => unknown, signal: AbortSignal): Promise<void> {
    let rest = chunks;
    for (let attempt = 0;; attempt++) {
      let reason: unknown;
      try {
        const result = write(rest.slice()); // the array is the sink's
        const failed = failedOf(isThenableLike(result) ? await result : result, rest);
        if (failed.length === 0) return;
        reason = new Error(`${failed.length} of ${rest.length} chunks could not be written`);
        rest = failed;
      } catch (error) {
        reason = error;
      }
      if (signal.aborted) throw reason;
      if (attempt >= this.#attempts) {
        if (this.#onFailed === undefined) throw reason;
        await this.#onFailed.call(this.#sink, rest, reason);
        return;
      }
      await pause(this.#delay, signal);
      if (signal.aborted) throw reason;
    }
  }
}

/** The chunks that a sink tells have failed; one that tells nothing has written them all. */
function failedOf(result: unknown, chunks: readonly unknown[]): unknown[] {
  if (!Array.isArray(result)) return [];
  return [...new Set(result)].map((index) => {
    if (Number.isInteger(index) && index >= 0 && index < chunks.length) return chunks[index];
    throw new RangeError(
      `writev() tells that the chunk at ${String(index)} has failed: it had ${chunks.length} chunks`,
    );
  });
}

function pause(delay: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, delay);
    signal.addEventListener("abort", end);
  });
}

function toCount(value: unknown): number {
  const count = +(value as number);
  if (count >= 0) return count;
  throw new RangeError(`retry.attempts must be at least 0, not ${String(value)}`);
}

/**
 * A time in ms.
 *
 * @throws {RangeError} if it is none that a timer takes.
 */
export function toDelay(name: string, value: unknown): number {
  const delay = +(value as number);
  if (delay >= 0 && delay < 2 ** 31) return delay;
  throw new RangeError(`${name} must be a number of ms from 0 to 2^31 - 1, not ${String(value)}`);
}

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
