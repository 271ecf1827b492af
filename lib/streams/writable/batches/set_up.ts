import { giveState } from "../../language/shell.ts";
import { isObject } from "../../language/webidl.ts";
import { extractHighWaterMark, extractSizeAlgorithm, toStrategy } from "../../queuing/queuing_strategy.ts";
import { createWritableStream, startWritableStreamDefaultController } from "../controller_state.ts";
import { WritableStreamDefaultController } from "../default_controller.ts";
import { BatchedSinkAlgorithms } from "./batched_sink.ts";
import { BatchedWrites } from "./batched_writes.ts";

/**
 * Sets up the state of a stream whose sink takes batches, and gives it to the constructor of WritableStream, which the
 * caller calls next.
 *
 * @param highWaterMark that of a strategy that has none.
 * @throws {TypeError} if an argument or a member is of the wrong type, or the sink has a `write` in place of `writev`.
 * @throws {RangeError} if the high-water mark is negative or NaN, `maxBatch` not above 0, or the sink has a `type`.
 */
export function giveBatchedState(underlyingSink: unknown, strategy: unknown, highWaterMark: number): void {
  if (underlyingSink !== undefined && !isObject(underlyingSink) && typeof underlyingSink !== "function") {
    throw new TypeError("the underlying sink must be an object");
  }
  const queuing = toStrategy(strategy);
  const sink = new BatchedSinkAlgorithms(underlyingSink);
  const writes = new BatchedWrites(sink);
  const size = extractSizeAlgorithm(queuing);
  const state = createWritableStream(writes, extractHighWaterMark(queuing, highWaterMark), size);
  writes.attach(state.controller);
  giveState(state.controller);
  startWritableStreamDefaultController(state.controller, sink.callStart(new WritableStreamDefaultController()));
  giveState(state);
}
