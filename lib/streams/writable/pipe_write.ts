import { isThenableLike, PENDING, settle } from "../language/promises.ts";
import {
  callWrite,
  finishWrite,
  isIdle,
  updateBackpressure,
  type WritableControllerState,
  writableStreamDefaultControllerAdvanceQueueIfNeeded,
  writableStreamDefaultControllerGetChunkSize,
  writableStreamDefaultControllerWrite,
} from "./controller_state.ts";
import { writableStreamAddWriteRequest, type WritableStreamState, type WriteRequest } from "./stream_state.ts";

/**
 * Writes a pipe's chunk. An idle sink gets the chunk at once: the queue would contain it only during that call,
 * unobserved. If the call errors the stream, the write ends when its promise would have settled, which keeps the order
 * of the pipe's end and other ends.
 */
export function writableStreamPipeWrite(stream: WritableStreamState, chunk: unknown, request: WriteRequest): void {
  const { controller } = stream;
  if (!controller.sizeAlgorithm && stream.state === "writable" && isIdle(controller)) {
    writeToIdleSink(stream, chunk, 1, request);
  } else {
    writeWithSize(stream, chunk, request);
  }
}

// Two functions, so that V8 can inline the first one into the pipe's loop.
function writeToIdleSink(stream: WritableStreamState, chunk: unknown, size: number, request: WriteRequest): void {
  stream.inFlightWriteRequest = request;
  const result = callWrite(stream.controller, chunk);
  if (result !== undefined || stream.state !== "writable") {
    endWrite(stream, result, size);
    return;
  }
  stream.inFlightWriteRequest = undefined;
  request.resolve();
}

function endWrite(stream: WritableStreamState, result: unknown, size: number): void {
  const { controller } = stream;
  if (result !== PENDING && !isThenableLike(result) && stream.state === "writable") {
    const request = stream.inFlightWriteRequest!;
    stream.inFlightWriteRequest = undefined;
    request.resolve();
    return;
  }
  controller.queue.pass(size);
  updateBackpressure(controller);
  if (result !== PENDING) settle(result, controller.onWritten, controller.onWriteFailed);
}

function writeWithSize(stream: WritableStreamState, chunk: unknown, request: WriteRequest): void {
  const { controller } = stream;
  const size = writableStreamDefaultControllerGetChunkSize(controller, chunk);
  if (stream.state !== "writable") {
    request.reject(stream.storedError); // a chunk that was read before the destination failed is lost
  } else if (isIdle(controller) && size >= 0 && size < Infinity) {
    writeToIdleSink(stream, chunk, size, request);
  } else if (controller.batching) {
    controller.batching.enqueueForPipe(chunk, size, request);
  } else {
    writableStreamAddWriteRequest(stream, request);
    writableStreamDefaultControllerWrite(controller, chunk, size);
  }
}

/** Settles a pipe's write for which the sink returned PENDING; `result` is the sink's delayed result. */
export function writableStreamFinishParkedWrite(controller: WritableControllerState, result: unknown): void {
  const { stream } = controller;
  if (isThenableLike(result) || stream.state !== "writable") {
    settle(result, controller.onWritten, controller.onWriteFailed);
    return;
  }
  finishWrite(controller);
  if (controller.queue.length > 0 || stream.closeRequest) {
    writableStreamDefaultControllerAdvanceQueueIfNeeded(controller);
  }
}
