import { writableStreamPipeWrite } from "../writable/controller_state.ts";
import {
  setUpWritableStreamDefaultWriter,
  writableStreamDefaultWriterAbort,
  writableStreamDefaultWriterClose,
  writableStreamDefaultWriterRelease,
  WriterState,
} from "../writable/writer_state.ts";
import {
  writableStreamCloseQueuedOrInFlight,
  type WritableStreamState,
  type WriteRequest,
} from "../writable/stream_state.ts";

/** A write whose failure the stream's own error tells. */
const UNWATCHED: WriteRequest = { fused: true, resolve() {}, reject() {} };

/**
 * The underlying sink of a writable stream's native side: what a native producer writes is written to ours, which
 * holds it back while it is full.
 *
 * Our stream is locked from the first write on; before it, nothing tells us that a native producer is there.
 */
export class WritableFeed implements UnderlyingSink<unknown> {
  readonly #stream: WritableStreamState;
  #writer: FeedWriterState | undefined = undefined;

  constructor(stream: WritableStreamState) {
    this.#stream = stream;
  }

  write(chunk: unknown, controller: WritableStreamDefaultController): Promise<void> | undefined {
    const writer = this.#lock(controller);
    const stream = this.#stream;
    if (stream.state !== "writable") return writer.ready.promise; // rejected with the stream's error
    if (writableStreamCloseQueuedOrInFlight(stream)) {
      throw new TypeError("Cannot write: the stream is closed or closing");
    }
    writableStreamPipeWrite(stream, chunk, UNWATCHED);
    return writer.ready.isPending || stream.state !== "writable" ? writer.ready.promise : undefined;
  }

  close(): Promise<void> {
    return writableStreamDefaultWriterClose(this.#lock(undefined));
  }

  abort(reason: unknown): Promise<void> {
    return writableStreamDefaultWriterAbort(this.#lock(undefined), reason);
  }

  static {
    Object.setPrototypeOf(WritableFeed.prototype, null); // what is on Object.prototype is no sink's
  }

  /** Gives our stream back, when the native side is not locked any longer. */
  release(): void {
    if (this.#writer === undefined) return;
    writableStreamDefaultWriterRelease(this.#writer);
    this.#writer = undefined;
  }

  #lock(controller: WritableStreamDefaultController | undefined): FeedWriterState {
    if (this.#writer === undefined) {
      if (this.#stream.writer !== undefined) throw new TypeError("Cannot write: the stream is locked to a writer");
      this.#writer = new FeedWriterState();
      setUpWritableStreamDefaultWriter(this.#writer, this.#stream);
    }
    this.#writer.controller ??= controller;
    return this.#writer;
  }
}

/** The writer by which the native side locks our stream. */
export class FeedWriterState extends WriterState {
  controller: WritableStreamDefaultController | undefined = undefined;

  override startedErroring(reason: unknown): void {
    super.startedErroring(reason);
    this.controller?.error(reason);
  }
}
