import { PARKED } from "../parked.ts";
import { isThenableLike, settle } from "../promises.ts";
import {
  callPipeWrite,
  finishWrite,
  isIdle,
  updateBackpressure,
  type WritableControllerState,
  writableStreamDefaultControllerAdvanceQueueIfNeeded,
  writableStreamDefaultControllerGetChunkSize,
  writableStreamDefaultControllerWrite,
} from "./controller_state.ts";
import type { WritableStreamState, WriteRequest } from "./stream_state.ts";

/**
 * A pipe's write. With an idle sink the chunk goes straight to it: the queue would hold it for the length of that call
 * alone, and only the pipe could look. Where the call errors the stream, the write ends when its promise would have
 * settled: the pipe tells an end that came before from one that came after.
 */
export function writableStreamPipeWrite(stream: WritableStreamState, chunk: unknown, request: WriteRequest): void {
  const { controller } = stream;
  const size = controller.sizeAlgorithm === undefined
    ? 1
    : writableStreamDefaultControllerGetChunkSize(controller, chunk);
  // A chunk that was read before the destination failed has nowhere to go.
  if (stream.state !== "writable") {
    request.reject(stream.storedError);
    return;
  }
  if (!isIdle(controller) || (size !== 1 && !((size as number) >= 0 && (size as number) < Infinity))) {
    stream.writeRequests.push(request);
    writableStreamDefaultControllerWrite(controller, chunk, size);
    return;
  }
  stream.inFlightWriteRequest = request;
  const result = callPipeWrite(controller, chunk);
  if ((result === undefined || (result !== PARKED && !isThenableLike(result))) && stream.state === "writable") {
    stream.inFlightWriteRequest = undefined;
    request.resolve();
    return;
  }
  controller.queue.pass(size as number);
  updateBackpressure(controller);
  if (result !== PARKED) settle(result, controller.onWritten, controller.onWriteFailed);
}

/** Settles a write of a pipe for which the sink returned PARKED; `result` is what it would have returned. */
export function writableStreamFinishParkedWrite(controller: WritableControllerState, result: unknown): void {
  const { stream } = controller;
  if (isThenableLike(result) || stream.state !== "writable") {
    settle(result, controller.onWritten, controller.onWriteFailed);
    return;
  }
  finishWrite(controller);
  if (controller.queue.length > 0 || stream.closeRequest !== undefined) {
    writableStreamDefaultControllerAdvanceQueueIfNeeded(controller);
  }
}
