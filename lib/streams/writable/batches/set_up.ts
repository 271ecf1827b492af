import { endedError } from "../../language/errors.ts";
import { promiseRejectedWith } from "../../language/promises.ts";
import { giveState, isObject } from "../../language/webidl.ts";
import { extractHighWaterMark, extractSizeAlgorithm, toStrategy } from "../../queuing/queuing_strategy.ts";
import { createWritableStream, startWritableStreamDefaultController } from "../controller_state.ts";
import { WritableStreamDefaultController } from "../default_controller.ts";
import { writableStreamStateOf } from "../lockable.ts";
import { writableStreamCloseQueuedOrInFlight } from "../stream_state.ts";
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

/**
 * Queues what a stream of batches wants of its own sink behind all that was written so far, whoever has locked it, and
 * has all of that written now. It counts for nothing in the queue; the promise is that of its batch.
 */
export function writePastLock(stream: object, chunk: unknown): Promise<void> {
  const state = writableStreamStateOf(stream)!;
  if (state.state === "erroring" || state.state === "errored") return promiseRejectedWith(state.storedError);
  const { batching } = state.controller;
  if (batching === undefined || writableStreamCloseQueuedOrInFlight(state)) {
    return promiseRejectedWith(endedError("write to", "closed"));
  }
  const written = batching.enqueue(chunk, 0);
  batching.hurry(false);
  return written;
}

/**
 * Takes all chunks that wait out of a stream of batches, in order, for a sink that writes them at once. The promises of
 * their writes settle as if they had been written in their turn.
 */
export function drainBatches(stream: object): unknown[] {
  const { state, controller } = writableStreamStateOf(stream)!;
  if (state !== "writable" || controller.batching === undefined) return [];
  return controller.batching.drain();
}
