import { isNativeClosing } from "#streams/lazy_side";
import { viewSlots } from "../../language/array_buffers.ts";
import { endedError, lockedError } from "../../language/errors.ts";
import {
  hasNativeByteStreams,
  isNativeReadableStreamLocked,
  isNativeWritableStreamLocked,
  nativeByobReader,
  nativeByobReaderClosed,
  nativeGetReader,
  nativeGetWriter,
  nativeReader,
  nativeReaderClosed,
  nativeWriter,
  nativeWriterClosed,
  nativeWriterDesiredSize,
  nativeWriterReady,
} from "../../language/native_classes.ts";
import { attempt, Deferred, markAsHandled, PENDING, queueReaction, react } from "../../language/promises.ts";
import { endByteStream } from "../../readable/byob_request.ts";
import { type ByteControllerState, createReadableByteStream } from "../../readable/byte_controller_state.ts";
import type { SourceAlgorithms } from "../../readable/controller_state.ts";
import { createReadableStream, type DefaultControllerState } from "../../readable/default_controller_state.ts";
import type { ReadableStreamState } from "../../readable/stream_state.ts";
import { atEndOfTurn } from "../../shortcuts/end_of_turn.ts";
import {
  createWritableStream,
  isIdle,
  type SinkAlgorithms,
  startWritableStreamDefaultController,
  writableStreamDefaultControllerErrorIfNeeded,
} from "../../writable/controller_state.ts";
import {
  UNWATCHED_WRITE,
  writableStreamFinishErroring,
  writableStreamFinishInFlightClose,
  writableStreamStartErroring,
  type WritableStreamState,
  writableStreamUpdateBackpressure,
} from "../../writable/stream_state.ts";

/** A native readable stream behind a state: a pipe's end, or the source of `fromNative()`. Reads on demand. */
export class NativeReadableEnd implements SourceAlgorithms {
  readonly isNative = true;
  readonly #stream: globalThis.ReadableStream;
  #reader!: globalThis.ReadableStreamDefaultReader; // assigned by acquire()
  #controller!: DefaultControllerState;
  #isReading = false;
  /** The end of the stream, postponed until its last chunk has arrived. */
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
    return PENDING;
  }

  cancel(reason: unknown): Promise<void> {
    return nativeReader.cancel.call(this.#reader, reason);
  }

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<unknown>): void => {
    this.#isReading = false;
    if (done) this.#controller.close();
    else this.#controller.enqueue(value);
    this.#end?.();
    this.#controller.resume();
  };

  /**
   * Ends the state after a delay: a stream closes while its last chunk is read, or errors by the next pull, so the
   * chunk may arrive after the end.
   */
  #endBy(end: () => void): void {
    if (this.#isReading) this.#end = end;
    else end();
  }
}

const BUFFER_SIZE = 65_536;

/** The underlying source that reads a native byte stream into large buffers. */
export class FromNativeByteSource implements SourceAlgorithms {
  readonly state: ReadableStreamState;
  readonly #reader: globalThis.ReadableStreamBYOBReader;
  readonly #controller: ByteControllerState;
  #isReading = false;
  #hasClosed = false;

  private constructor(reader: globalThis.ReadableStreamBYOBReader) {
    this.#reader = reader;
    this.state = createReadableByteStream(this);
    this.#controller = this.state.controller as ByteControllerState;
    react(nativeByobReaderClosed.call(reader), this.#onClosed, (error) => {
      this.#endBy(() => this.#controller.error(error));
    });
  }

  /** Locks a stream, which must not be locked, if it is a byte stream: only the attempt shows that. Otherwise returns undefined. */
  static open(stream: globalThis.ReadableStream): FromNativeByteSource | undefined {
    if (!hasNativeByteStreams) return undefined;
    let reader: globalThis.ReadableStreamBYOBReader;
    try {
      reader = nativeGetReader.call(stream, { mode: "byob" }) as globalThis.ReadableStreamBYOBReader;
    } catch {
      return undefined;
    }
    return new FromNativeByteSource(reader);
  }

  pull(): unknown {
    this.#isReading = true;
    const read = nativeByobReader.read.call(this.#reader, new Uint8Array(BUFFER_SIZE));
    return react(read as Promise<ReadableStreamReadResult<ArrayBufferView<ArrayBuffer>>>, this.#onRead);
  }

  cancel(reason: unknown): Promise<void> {
    return nativeByobReader.cancel.call(this.#reader, reason);
  }

  readonly #onRead = ({ done, value }: ReadableStreamReadResult<ArrayBufferView<ArrayBuffer>>): void => {
    this.#isReading = false;
    if (!done) this.#controller.enqueue(viewSlots(value));
    if (done || this.#hasClosed) this.#close();
  };

  /** Handles the end. Also ends a BYOB read, which a native source without BYOB support leaves pending for ever. */
  readonly #onClosed = (): void => {
    this.#hasClosed = true;
    this.#endBy(this.#close);
  };

  readonly #close = (): void => endByteStream(this.#controller);

  #endBy(end: () => void): void {
    if (this.#isReading) atEndOfTurn(end); // the last bytes may not have arrived yet
    else end();
  }
}

/** A counter of the native stream's unfinished writes; failed writes count as finished. */
interface PendingWrites {
  begin(): void;
  written(): void;
  resolve(): void;
}

/** The close request of a state whose native stream was closing before; its promise is settled, as no code awaits it. */
const CLOSING = new Deferred<void>();
CLOSING.resolve();

/** Closes a state whose native stream has closed, unless the state's own close is about to settle. */
function closeWithNative(state: WritableStreamState): void {
  const { closeRequest, inFlightCloseRequest = CLOSING } = state;
  if (state.state === "errored" || inFlightCloseRequest !== CLOSING) return;
  closeRequest?.reject(endedError("close", "closed"));
  state.inFlightCloseRequest = CLOSING;
  writableStreamFinishInFlightClose(state);
}

/** A native writable stream behind a state without a queue, whose backpressure is the native stream's. */
export class NativeWritableEnd implements SinkAlgorithms {
  readonly isNative = true;
  readonly #stream: globalThis.WritableStream;
  #writer!: globalThis.WritableStreamDefaultWriter; // all of these are assigned by acquire()
  #state!: WritableStreamState;
  #writes!: PendingWrites;
  #hasWritten = false;

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
    if (isNativeClosing(this.#stream)) this.#state.closeRequest = CLOSING;
    react(nativeWriterClosed.call(this.#writer), () => closeWithNative(this.#state), this.#onErrored);
    this.#watchBackpressure();
    return this.#state;
  }

  refresh(): void {
    if (nativeWriterDesiredSize.call(this.#writer) === null) this.#onErroring(undefined); // the error is reported later
  }

  release(): void {
    nativeWriter.releaseLock.call(this.#writer);
  }

  write(chunk: unknown): void {
    this.#writes.begin();
    // Node throws if the stream is closing.
    const written = attempt(() => nativeWriter.write.call(this.#writer, chunk));
    react(written, this.#onWritten, this.#onWriteFailed);
    if (this.#hasWritten) return this.#watchBackpressure();
    this.#hasWritten = true;
    writableStreamUpdateBackpressure(this.#state, true);
    // Runs after a closing stream has refused the chunk, unless the pipe has ended.
    queueReaction(() => this.#state.writer && this.#watchBackpressure());
  }

  close(): Promise<void> {
    return nativeWriter.close.call(this.#writer);
  }

  abort(reason: unknown): Promise<void> {
    return nativeWriter.abort.call(this.#writer, reason);
  }

  #watchBackpressure(): void {
    const desiredSize = nativeWriterDesiredSize.call(this.#writer);
    if (desiredSize !== null && desiredSize > 0) return this.#onReady();
    writableStreamUpdateBackpressure(this.#state, true);
    // A rejection of `ready` means that the stream is erroring; `closed` settles once it has errored.
    react(nativeWriterReady.call(this.#writer), this.#onReady, this.#onErroring);
  }

  readonly #onReady = (): void => {
    if (this.#state.closeRequest === undefined) writableStreamUpdateBackpressure(this.#state, false);
  };
  readonly #onWritten = (): void => this.#writes.written();
  /** Ends a failed write. Only a closing stream refuses a chunk without erroring; otherwise `closed` has the reason. */
  readonly #onWriteFailed = (): void => {
    const { writer } = this.#state;
    if (writer !== undefined && nativeWriterDesiredSize.call(this.#writer) !== null) {
      this.#state.closeRequest ??= CLOSING;
      writer.streamClosed();
    }
    this.#writes.resolve();
  };

  /** Errors the state. The native stream errors after its write in flight: until then, the state has one, too. */
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

/** Makes a WritableStream that writes to a native one, chunk by chunk. */
export function fromNativeSink(stream: globalThis.WritableStream): WritableStreamState {
  const writer = nativeGetWriter.call(stream);
  let aborted: Promise<void>;
  const sink: SinkAlgorithms = {
    write: (chunk) => nativeWriter.write.call(writer, chunk),
    close: () => nativeWriter.close.call(writer),
    abort: () => aborted,
  };
  const { controller } = createWritableStream(sink, 1, undefined);
  const state = controller.stream;
  if (isNativeClosing(stream)) state.inFlightCloseRequest = CLOSING;
  // At once, since a write in flight may wait for the signal of the native stream.
  controller.signalAbort = (reason) => markAsHandled(aborted = nativeWriter.abort.call(writer, reason));
  startWritableStreamDefaultController(controller, undefined);
  react(nativeWriterClosed.call(writer), () => {
    if (isIdle(controller)) closeWithNative(state);
  }, (error) => {
    const wasClosing = state.inFlightCloseRequest === CLOSING;
    if (wasClosing) state.inFlightCloseRequest = undefined;
    if (wasClosing && state.state === "erroring") writableStreamFinishErroring(state);
    else writableStreamDefaultControllerErrorIfNeeded(controller, error);
  });
  return state;
}
