import { lockedError } from "../../language/errors.ts";
import { react } from "../../language/promises.ts";
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
import {
  isNativeWritableStreamLocked,
  nativeGetWriter,
  nativeWriter,
  nativeWriterClosed,
  nativeWriterDesiredSize,
  nativeWriterReady,
} from "../../language/native_classes.ts";

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
