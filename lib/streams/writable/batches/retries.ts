import { globalFunction } from "../../language/global_function.ts";
import { isThenableLike } from "../../language/promises.ts";
import { type Callback, toDictionary } from "../../language/webidl.ts";

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
