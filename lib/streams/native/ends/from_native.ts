import { viewSlots } from "../../language/array_buffers.ts";
import {
  hasNativeByteStreams,
  nativeByobReader,
  nativeByobReaderClosed,
  nativeGetReader,
  nativeGetWriter,
  nativeWriter,
  nativeWriterClosed,
  nativeWriterDesiredSize,
  nativeWriterReady,
} from "../../language/native_classes.ts";
import { markAsHandled, react } from "../../language/promises.ts";
import { readableByteStreamControllerRespond } from "../../readable/byob_request.ts";
import { type ByteControllerState, createReadableByteStream } from "../../readable/byte_controller_state.ts";
import type { SourceAlgorithms } from "../../readable/controller_state.ts";
import type { ReadableStreamState } from "../../readable/stream_state.ts";
import { atEndOfTurn } from "../../shortcuts/end_of_turn.ts";
import {
  createWritableStream,
  type SinkAlgorithms,
  startWritableStreamDefaultController,
  type WritableControllerState,
  writableStreamDefaultControllerErrorIfNeeded,
} from "../../writable/controller_state.ts";
import type { WritableStreamState } from "../../writable/stream_state.ts";

const BUFFER_SIZE = 65_536;

/** The underlying source of a byte stream of ours that reads one of the runtime's into large buffers. */
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
    react(nativeByobReaderClosed.call(reader), this.#onClosed, this.#onErrored);
  }

  /** Locks a stream, which must be free, if it is a byte stream; nothing tells but the attempt. */
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

  /**
   * As in NativeReadableEnd; but a read is not answered at all if the source closes and knows nothing of views, which has
   * it wait for ever.
   */
  readonly #onClosed = (): void => {
    this.#hasClosed = true;
    if (this.#isReading) atEndOfTurn(this.#close);
    else this.#close();
  };

  readonly #close = (): void => {
    if (this.state.state !== "readable") return;
    this.#controller.close();
    // Views that our readers lent wait in the queue of pull-intos until they are answered.
    if (this.#controller.firstPullInto !== undefined) readableByteStreamControllerRespond(this.#controller, 0);
  };

  readonly #onErrored = (error: unknown): void => {
    const fail = (): void => this.#controller.error(error);
    if (this.#isReading) atEndOfTurn(fail); // bytes may still be on their way to us
    else fail();
  };
}

/** A stream of ours that writes to one of the runtime's: at once while that has room, else when it has again. */
export function fromNativeSink(stream: globalThis.WritableStream): WritableStreamState {
  const sink = new FromNativeSink(nativeGetWriter.call(stream));
  const state = createWritableStream(sink, 1, undefined);
  sink.watch(state.controller);
  startWritableStreamDefaultController(state.controller, undefined);
  return state;
}

class FromNativeSink implements SinkAlgorithms {
  readonly #writer: globalThis.WritableStreamDefaultWriter;

  constructor(writer: globalThis.WritableStreamDefaultWriter) {
    this.#writer = writer;
  }

  watch(controller: WritableControllerState): void {
    react(
      nativeWriterClosed.call(this.#writer),
      () => {},
      (error) => writableStreamDefaultControllerErrorIfNeeded(controller, error),
    );
  }

  write(chunk: unknown): Promise<void> | undefined {
    const written = nativeWriter.write.call(this.#writer, chunk);
    const desiredSize = nativeWriterDesiredSize.call(this.#writer);
    if (desiredSize === null) return written;
    markAsHandled(written); // `closed` tells of its failure
    return desiredSize > 0 ? undefined : nativeWriterReady.call(this.#writer);
  }

  close(): Promise<void> {
    return nativeWriter.close.call(this.#writer);
  }

  abort(reason: unknown): Promise<void> {
    return nativeWriter.abort.call(this.#writer, reason);
  }
}
