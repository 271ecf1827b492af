import { lockedError } from "../../language/errors.ts";
import { PARKED } from "../../shortcuts/parked.ts";
import { react } from "../../language/promises.ts";
import type { SourceAlgorithms } from "../../readable/controller_state.ts";
import { createReadableStream, type DefaultControllerState } from "../../readable/default_controller_state.ts";
import type { ReadableStreamState } from "../../readable/stream_state.ts";
import {
  isNativeReadableStreamLocked,
  nativeGetReader,
  nativeReader,
  nativeReaderClosed,
} from "../../language/native_classes.ts";

/**
 * A readable stream of the runtime, behind a state of ours that asks it for a chunk when a chunk is asked of the state:
 * the end of a pipe, or what `fromNative()` gives. One read is under way at a time.
 */
export class NativeReadableEnd implements SourceAlgorithms {
  readonly isNative = true;
  readonly #stream: globalThis.ReadableStream;
  #reader!: globalThis.ReadableStreamDefaultReader; // set by acquire()
  #controller!: DefaultControllerState;
  #isReading = false;
  #hasClosed = false;

  constructor(stream: globalThis.ReadableStream) {
    this.#stream = stream;
  }

  checkFree(): void {
    if (isNativeReadableStreamLocked(this.#stream)) throw lockedError("pipe from it");
  }

  acquire(): ReadableStreamState {
    this.#reader = nativeGetReader.call(this.#stream) as globalThis.ReadableStreamDefaultReader;
    const state = createReadableStream(this, 0);
    this.#controller = state.controller as DefaultControllerState;
    react(nativeReaderClosed.call(this.#reader), this.#onClosed, this.#onErrored);
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
    if (!done) this.#controller.enqueue(value);
    if (done || this.#hasClosed) this.#controller.close();
    this.#controller.goOn();
  };

  /** It closes when its last chunk has been read, but that chunk may still be on its way to us. */
  readonly #onClosed = (): void => {
    this.#hasClosed = true;
    if (!this.#isReading) this.#controller.close();
  };

  readonly #onErrored = (error: unknown): void => this.#controller.error(error);
}
