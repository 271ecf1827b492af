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
  /** The end that the stream came to while a chunk of it was on its way to us. */
  #end: (() => void) | undefined;

  constructor(stream: globalThis.ReadableStream) {
    this.#stream = stream;
  }

  checkFree(): void {
    if (isNativeReadableStreamLocked(this.#stream)) throw lockedError("pipe from it");
  }

  acquire(): ReadableStreamState {
    this.#reader = nativeGetReader.call(this.#stream) as globalThis.ReadableStreamDefaultReader;
    const state = createReadableStream(this, 0);
    const controller = this.#controller = state.controller as DefaultControllerState;
    react(nativeReaderClosed.call(this.#reader), () => this.#endBy(() => controller.close()), (error) => {
      this.#endBy(() => controller.error(error));
    });
    return state;
  }

  release(): void {
    nativeReader.releaseLock.call(this.#reader);
  }

  pull(): unknown {
    this.#isReading = true;
    react(nativeReader.read.call(this.#reader), this.#onRead, this.#controller.onPullFailed);
    return PARKED;
  }

  cancel(reason: unknown): Promise<void> {
    return nativeReader.cancel.call(this.#reader, reason);
  }

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<unknown>): void => {
    this.#isReading = false;
    if (done) this.#controller.close();
    else this.#controller.enqueue(value);
    this.#end?.();
    this.#controller.goOn();
  };

  /** It closes as its last chunk is read, or errs by a pull for the next one; the chunk may still be on its way to us. */
  #endBy(end: () => void): void {
    if (this.#isReading) this.#end = end;
    else end();
  }
}
