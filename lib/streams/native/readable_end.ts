import { PARKED } from "../parked.ts";
import { react } from "../promises.ts";
import {
  createReadableStream,
  type DefaultControllerState,
  readableStreamDefaultControllerClose,
  readableStreamDefaultControllerEnqueue,
  readableStreamDefaultControllerError,
  type SourceAlgorithms,
} from "../readable/default_controller_state.ts";
import type { ReadableStreamState } from "../readable/stream_state.ts";
import { isNativeReadableStreamLocked, nativeGetReader, nativeReader, nativeReaderClosed } from "./native_classes.ts";

/**
 * A readable stream of the runtime, behind a state of ours that asks it for a chunk when a chunk is asked of the state:
 * the end of a pipe, or what `fromNative()` gives. One read is under way at a time.
 */
export class NativeReadableEnd implements SourceAlgorithms {
  readonly isNative = true;
  readonly #stream: globalThis.ReadableStream;
  #reader: globalThis.ReadableStreamDefaultReader = undefined as never; // set by acquire()
  #controller: DefaultControllerState = undefined as never;
  #isReading = false;
  #hasClosed = false;

  constructor(stream: globalThis.ReadableStream) {
    this.#stream = stream;
  }

  isFree(): boolean {
    return !isNativeReadableStreamLocked(this.#stream);
  }

  acquire(): ReadableStreamState {
    this.#reader = nativeGetReader.call(this.#stream) as globalThis.ReadableStreamDefaultReader;
    const state = createReadableStream(this, 0);
    this.#controller = state.controller as DefaultControllerState;
    react(nativeReaderClosed(this.#reader), this.#onClosed, this.#onErrored);
    return state;
  }

  release(): void {
    nativeReader.releaseLock.call(this.#reader);
  }

  pull(): unknown {
    this.#isReading = true;
    react(nativeReader.read.call(this.#reader), this.#onRead, this.#onErrored);
    return PARKED;
  }

  cancel(reason: unknown): Promise<void> {
    return nativeReader.cancel.call(this.#reader, reason);
  }

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<unknown>): void => {
    this.#isReading = false;
    if (!done) readableStreamDefaultControllerEnqueue(this.#controller, value);
    if (done || this.#hasClosed) readableStreamDefaultControllerClose(this.#controller);
    this.#controller.onPulled();
  };

  /** It closes when its last chunk has been read, but that chunk may still be on its way to us. */
  readonly #onClosed = (): void => {
    this.#hasClosed = true;
    if (!this.#isReading) readableStreamDefaultControllerClose(this.#controller);
  };

  readonly #onErrored = (error: unknown): void => readableStreamDefaultControllerError(this.#controller, error);
}
