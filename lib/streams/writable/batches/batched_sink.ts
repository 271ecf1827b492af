import { described, refuseMisspelt } from "#streams/suggestion";
import {
  type Member,
  milliseconds,
  number,
  positive,
  requireOption,
  type Schema,
  schema,
  wrongType,
} from "../../language/options.ts";
import { callbackResult, isThenableLike } from "../../language/promises.ts";
import { type Callback, toCallback, toDictionary } from "../../language/webidl.ts";
import type { WritableStreamDefaultController } from "../underlying_sink.ts";
import { type Batch, clearTimeout, setTimeout } from "./batch.ts";

export const retryOptions: Schema<
  { readonly attempts: Member<number, undefined>; readonly delay: Member<number, number> }
> = /* @__PURE__ */ schema(
  "BatchedWritableStream",
  () => ({ attempts: number(0, Infinity), delay: milliseconds(1000) }),
);

const limits = /* @__PURE__ */ schema(
  "BatchedWritableStream",
  () => ({ maxBatch: positive(), maxDelay: milliseconds(), minBatch: positive() }),
);

/** The retries of batches that a sink failed to write, wholly or in part, and the call of `onFailed` after the last retry. */
class Retries {
  readonly #attempts: number;
  readonly #delay: number;
  readonly #onFailed: Callback | undefined;
  readonly #sink: unknown;
  /** Whether the stream has ended: what failed since is not retried. */
  #isOver = false;
  #endPause: (() => void) | undefined = undefined;

  constructor(retry: unknown, onFailed: Callback | undefined, sink: unknown) {
    const checked = retryOptions(retry as object | undefined, "retry.");
    this.#attempts = retry === undefined ? 0 : requireOption(retryOptions, checked, "attempts", "retry.");
    this.#delay = checked.delay;
    this.#onFailed = onFailed;
    this.#sink = sink;
  }

  /** Writes chunks, and retries the failed ones as often as `retry` allows. */
  async write(chunks: unknown[], write: (chunks: unknown[]) => unknown, signal: AbortSignal): Promise<void> {
    let rest = chunks;
    for (let attempt = 0;; attempt++) {
      let reason: unknown;
      let result: unknown;
      let hasThrown = false;
      try {
        result = await write(rest.slice()); // a copy, since the sink owns its array
      } catch (error) {
        hasThrown = true;
        reason = error;
      }
      if (!hasThrown) {
        const failures = failuresOf(result, rest.length);
        if (failures === undefined) return;
        reason = failures.reason;
        rest = failures.indexes.map((index) => rest[index]);
      }
      if (this.#isOver || signal.aborted) throw reason;
      if (attempt >= this.#attempts) {
        if (this.#onFailed === undefined) throw reason;
        await this.#onFailed.call(this.#sink, rest, reason);
        return;
      }
      await this.#pause(signal);
      if (this.#isOver || signal.aborted) throw reason;
    }
  }

  end(): void {
    this.#isOver = true;
    this.#endPause?.();
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = this.#endPause = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, this.#delay);
      signal.addEventListener("abort", end);
    });
  }
}

/** The chunks of a batch that could not be written. */
interface Failures {
  readonly indexes: readonly number[];
  readonly reason: unknown;
}

/**
 * Reads what `writev()` returned for a batch of `count` chunks: `{ failed: [index, …], reason? }`, or anything else if
 * all were written.
 *
 * @throws {TypeError} if `failed` is not a list.\n@throws {RangeError} if no chunk has an index.
 */
function failuresOf(result: unknown, count: number): Failures | undefined {
  if (!isThenableLike(result)) return undefined;
  const { failed, reason } = result as { failed?: unknown; reason?: unknown };
  if (failed === undefined) return undefined;
  if (!Array.isArray(failed)) throw wrongType("what writev() returns as failed", "a list of indexes", failed);
  const indexes = [...new Set<unknown>(failed)].map((index) => {
    if (Number.isInteger(index) && 0 <= (index as number) && (index as number) < count) return index as number;
    throw new RangeError(
      `writev() returned ${described(index)} as the index of a chunk that failed: it had ${count} chunks`,
    );
  });
  if (indexes.length === 0) return undefined;
  indexes.sort((one, other) => one - other); // chunks keep their order
  return { indexes, reason: reason ?? new Error(`${indexes.length} of ${count} chunks could not be written`) };
}

/** Rejects if `writev()` resolves with failures. */
async function requireAllWritten(result: object, count: number): Promise<void> {
  const failures = failuresOf(await result, count);
  if (failures !== undefined) throw failures.reason;
}

/** The method by which an internal sink takes a batch, instead of `writev()`, as several arrays. */
export const WRITE_PARTS: unique symbol = Symbol("writeParts");

/** An underlying sink that takes batches, after conversion, with its algorithms. */
export class BatchedSinkAlgorithms {
  /** The maximum size of a batch, in the strategy's unit. */
  readonly maxBatch: number;
  /** The delay of a batch after its first chunk, in ms; undefined if batches start at the end of the turn. */
  readonly maxDelay: number | undefined;
  /** The size from which a batch is not delayed. */
  readonly minBatch: number;
  readonly #sink: unknown;
  #controller: object | undefined = undefined;
  readonly #abort: Callback | undefined;
  readonly #close: Callback | undefined;
  readonly #start: Callback | undefined;
  readonly #writev: Callback | undefined;
  readonly #writeParts: Callback | undefined;
  /** The handling of failed batches, if the sink has `retry` or `onFailed`. */
  readonly #retries: Retries | undefined = undefined;

  /** Reads the dictionary's members in the order of their names. */
  constructor(value: unknown) {
    this.#sink = value;
    const sink = toDictionary(value, "the underlying sink");
    refuseMisspelt("the underlying sink", value, sink);
    this.#abort = toCallback(sink.abort, "the underlying sink's abort");
    this.#close = toCallback(sink.close, "the underlying sink's close");
    this.maxBatch = limitOf("maxBatch", sink.maxBatch) ?? Infinity;
    this.maxDelay = limitOf("maxDelay", sink.maxDelay);
    const minBatch = limitOf("minBatch", sink.minBatch);
    this.minBatch = Math.min(this.maxBatch, minBatch ?? Infinity);
    if (minBatch !== undefined && this.maxDelay === undefined) {
      throw new TypeError("minBatch needs a maxDelay: give both, or none");
    }
    const onFailed = toCallback(sink.onFailed, "the underlying sink's onFailed");
    const { retry } = sink;
    if (retry !== undefined || onFailed !== undefined) this.#retries = new Retries(retry, onFailed, value);
    this.#start = toCallback(sink.start, "the underlying sink's start");
    if (sink.type !== undefined) {
      throw new RangeError("the underlying sink's type must be undefined: the name is reserved");
    }
    this.#writev = toCallback(sink.writev, "the underlying sink's writev");
    this.#writeParts = (sink as { [WRITE_PARTS]?: Callback })[WRITE_PARTS];
    if (value !== undefined && this.#writev === undefined && this.#writeParts === undefined) {
      throw new TypeError("the underlying sink has no writev(chunks, controller): for a write(), use a WritableStream");
    }
  }

  /** Calls start with the controller that `writev()` will get. */
  callStart(controller: object): unknown {
    this.#controller = controller;
    return this.#start?.call(this.#sink, controller);
  }

  writev(batch: Batch, isLast: boolean): unknown {
    if (this.#writeParts !== undefined) return this.#writeParts.call(this.#sink, batch.takeParts());
    const writev = this.#writev;
    if (writev === undefined) return undefined;
    if (this.#retries === undefined) {
      const chunks = batch.takeChunks();
      const { length } = chunks;
      const result = writev.call(this.#sink, chunks, this.#controller, isLast);
      return isThenableLike(result) ? requireAllWritten(result, length) : undefined;
    }
    const controller = this.#controller as WritableStreamDefaultController;
    const write = (chunks: unknown[]) => writev.call(this.#sink, chunks, controller, isLast);
    return this.#retries.write(batch.takeChunks(), write, controller.signal);
  }

  /** Ends the retries, since the stream has ended: the sink's own `controller.error()` aborts no signal. */
  end(): void {
    this.#retries?.end();
  }

  close(): unknown {
    return callbackResult(this.#close?.call(this.#sink));
  }

  abort(reason: unknown): unknown {
    return callbackResult(this.#abort?.call(this.#sink, reason));
  }
}

function limitOf(name: keyof typeof limits.members, value: unknown): number | undefined {
  return value === undefined ? undefined : limits.members[name].check(value, name);
}
