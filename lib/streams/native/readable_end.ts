import { promiseResolvedWith, react } from "../promises.ts";
import {
  createReadableStream,
  type DefaultControllerState,
  readableStreamDefaultControllerClose,
  readableStreamDefaultControllerEnqueue,
  readableStreamDefaultControllerError,
  type SourceAlgorithms,
} from "../readable/default_controller_state.ts";
import type { ReadableStreamState } from "../readable/stream_state.ts";
import { isNativeReadableStreamLocked, nativeGetReader } from "./native_classes.ts";

/** A readable stream of the runtime, behind a state of ours that asks it for a chunk when a chunk is asked of the state. */
export class NativeReadableEnd implements SourceAlgorithms {
  readonly #stream: globalThis.ReadableStream;
  #reader: globalThis.ReadableStreamDefaultReader = undefined as never; // set by acquire()
  #controller: DefaultControllerState = undefined as never;

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
    // That it closed is known when a read says so: only then have all chunks been read.
    react(this.#reader.closed, undefined, this.#onErrored);
    return state;
  }

  release(): void {
    this.#reader.releaseLock();
  }

  pull(): void {
    react(this.#reader.read(), this.#onRead, this.#onErrored);
  }

  cancel(reason: unknown): Promise<void> {
    return promiseResolvedWith(this.#reader.cancel(reason));
  }

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<unknown>): void => {
    if (done) readableStreamDefaultControllerClose(this.#controller);
    else readableStreamDefaultControllerEnqueue(this.#controller, value);
  };

  readonly #onErrored = (error: unknown): void => readableStreamDefaultControllerError(this.#controller, error);
}
