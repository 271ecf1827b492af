import { type EndedPromise, promiseRejectedWith, promiseResolvedWith, react } from "../language/promises.ts";
import type { ByteControllerState } from "./byte_controller_state.ts";
import type { DefaultControllerState } from "./default_controller_state.ts";
import type { ByobReaderState, DefaultReaderState } from "./reader_state.ts";

/** The internal slots of a ReadableStream. @see {@link https://streams.spec.whatwg.org/#rs-internal-slots} */
export class ReadableStreamState {
  state: "readable" | "closed" | "errored" = "readable";
  disturbed = false;
  reader: DefaultReaderState | ByobReaderState | undefined;
  storedError: unknown;
  controller!: DefaultControllerState | ByteControllerState; // set by every set-up
  /** The object that users hold, once there is one. */
  shell: object | undefined;
  /** The stream as the runtime handles it: the stream itself, or an object made when the runtime looks. */
  nativeSide: object | undefined;
  /** The feed of the stream's native side, once somebody has asked that for a chunk. */
  feed: StreamObserver | undefined;
  /** Settles as the stream ends, if anybody asked. */
  ended: EndedPromise | undefined;
}

/** An observer of a stream's end. */
interface StreamObserver {
  /** Takes out of the stream's queue what was lent of it and has been read. */
  countSteps?(): void;
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-cancel} */
export function readableStreamCancel(stream: ReadableStreamState, reason: unknown): Promise<void> {
  stream.disturbed = true;
  if (stream.state === "closed") return promiseResolvedWith<void>(undefined);
  if (stream.state === "errored") return promiseRejectedWith(stream.storedError);
  readableStreamClose(stream);
  stream.reader?.streamCanceled();
  return react(stream.controller.cancelSteps(reason), () => {});
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-close} */
export function readableStreamClose(stream: ReadableStreamState): void {
  stream.state = "closed";
  stream.feed?.closeSteps(); // first, as `closed` settles before the reads that wait
  stream.reader?.streamClosed();
  stream.ended?.resolve();
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-error} */
export function readableStreamError(stream: ReadableStreamState, error: unknown): void {
  stream.state = "errored";
  stream.storedError = error;
  stream.feed?.errorSteps(error);
  stream.reader?.streamErrored(error);
  stream.ended?.reject(error);
}
