import { lockedError } from "../../language/errors.ts";
import {
  isNativeReadableStreamLocked,
  isNativeWritableStreamLocked,
  nativeGetReader,
  nativeGetWriter,
  nativeReader,
  nativeReaderClosed,
  nativeWriter,
  nativeWriterClosed,
  nativeWriterDesiredSize,
  nativeWriterReady,
} from "../../language/native_classes.ts";
import { PARKED, react } from "../../language/promises.ts";
import type { SourceAlgorithms } from "../../readable/controller_state.ts";
import { createReadableStream, type DefaultControllerState } from "../../readable/default_controller_state.ts";
import type { ReadableStreamState } from "../../readable/stream_state.ts";
import {
  createWritableStream,
  type SinkAlgorithms,
  writableStreamDefaultControllerErrorIfNeeded,
} from "../../writable/controller_state.ts";
import {
  UNWATCHED_WRITE,
  writableStreamFinishErroring,
  writableStreamStartErroring,
  type WritableStreamState,
  writableStreamUpdateBackpressure,
} from "../../writable/stream_state.ts";

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

/** A counter of the writes that the native stream has not finished. */
interface PendingWrites {
  begin(): void;
  resolve(): void;
}

/**
 * A writable stream of the runtime, behind a state of ours that holds nothing: what is written to it is written there at
 * once, and it is full while the native stream is.
 */
export class NativeWritableEnd implements SinkAlgorithms {
  readonly isNative = true;
  readonly #stream: globalThis.WritableStream;
  #writer!: globalThis.WritableStreamDefaultWriter; // set by acquire(), as all of these
  #state!: WritableStreamState;
  #writes!: PendingWrites;

  constructor(stream: globalThis.WritableStream) {
    this.#stream = stream;
  }

  checkFree(): void {
    if (isNativeWritableStreamLocked(this.#stream)) throw lockedError("pipe to it");
  }

  acquire(writes: PendingWrites): WritableStreamState {
    this.#writes = writes;
    this.#writer = nativeGetWriter.call(this.#stream);
    this.#state = createWritableStream(this, Infinity, undefined);
    this.#state.controller.started = true;
    react(nativeWriterClosed.call(this.#writer), () => {
      this.#state.state = "closed";
      this.#state.writer?.streamClosed();
    }, this.#onErrored);
    this.#watchBackpressure();
    return this.#state;
  }

  refresh(): void {
    if (nativeWriterDesiredSize.call(this.#writer) === null) this.#onErroring(undefined); // the error follows in time
  }

  release(): void {
    nativeWriter.releaseLock.call(this.#writer);
  }

  write(chunk: unknown): void {
    this.#writes.begin();
    react(nativeWriter.write.call(this.#writer, chunk), this.#onWritten, this.#onWritten); // `closed` tells why it failed
    this.#watchBackpressure();
  }

  close(): Promise<void> {
    return nativeWriter.close.call(this.#writer);
  }

  abort(reason: unknown): Promise<void> {
    return nativeWriter.abort.call(this.#writer, reason);
  }

  #watchBackpressure(): void {
    const desiredSize = nativeWriterDesiredSize.call(this.#writer);
    if (desiredSize !== null && desiredSize > 0) return;
    writableStreamUpdateBackpressure(this.#state, true);
    // That it is rejected says that the stream is about to error; `closed` says when it has.
    react(nativeWriterReady.call(this.#writer), this.#onReady, this.#onErroring);
  }

  readonly #onReady = (): void => writableStreamUpdateBackpressure(this.#state, false);
  readonly #onWritten = (): void => this.#writes.resolve();
  /** It will error when its write has ended: until then the state has one in flight too. */
  readonly #onErroring = (error: unknown): void => {
    if (this.#state.state !== "writable") return;
    this.#state.inFlightWriteRequest = UNWATCHED_WRITE;
    writableStreamStartErroring(this.#state, error);
  };

  readonly #onErrored = (error: unknown): void => {
    writableStreamDefaultControllerErrorIfNeeded(this.#state.controller, error);
    if (this.#state.state !== "erroring") return;
    this.#state.storedError = error;
    this.#state.inFlightWriteRequest = undefined;
    writableStreamFinishErroring(this.#state);
  };
}
