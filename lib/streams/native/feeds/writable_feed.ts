import { inheritNothing } from "../../language/native_classes.ts";
import { endedError, lockedError } from "../../language/errors.ts";
import { writableStreamPipeWrite } from "../../writable/pipe_write.ts";
import {
  UNWATCHED_WRITE,
  writableStreamAbort,
  writableStreamClose,
  writableStreamCloseQueuedOrInFlight,
  type WritableStreamState,
} from "../../writable/stream_state.ts";
import {
  setUpWritableStreamDefaultWriter,
  writableStreamDefaultWriterRelease,
  WriterState,
} from "../../writable/writer_state.ts";

/**
 * The underlying sink of a writable stream's native side: what a native producer writes is written to ours, which
 * holds it back while it is full. The writer that has locked both does so, or, if there is none, one of its own.
 */
export class WritableFeed implements UnderlyingSink<unknown> {
  readonly #stream: WritableStreamState;
  #controller: globalThis.WritableStreamDefaultController | undefined;

  constructor(stream: WritableStreamState) {
    this.#stream = stream;
  }

  /** Tells the native stream from now on what becomes of ours: it may err before anything is written. */
  start(controller: globalThis.WritableStreamDefaultController): void {
    this.#controller = controller;
    this.#stream.feed = this;
    const { state, storedError } = this.#stream;
    if (state === "erroring" || state === "errored") controller.error(storedError);
  }

  write(chunk: unknown): Promise<void> | undefined {
    const writer = this.#lock();
    const stream = this.#stream;
    if (stream.state === "closed" || writableStreamCloseQueuedOrInFlight(stream)) {
      throw endedError("write", stream.state);
    }
    if (stream.state !== "writable") return writer.ready.promise; // rejected with the stream's error
    writableStreamPipeWrite(stream, chunk, UNWATCHED_WRITE);
    return writer.ready.isPending || stream.state !== "writable" ? writer.ready.promise : undefined;
  }

  close(): Promise<void> | undefined {
    this.#lock();
    return writableStreamClose(this.#stream);
  }

  abort(reason: unknown): Promise<void> {
    this.#lock();
    return writableStreamAbort(this.#stream, reason);
  }

  startedErroring(reason: unknown): void {
    this.#controller?.error(reason);
  }

  #lock(): WriterState {
    const stream = this.#stream;
    if (!stream.writer) setUpWritableStreamDefaultWriter(new FeedWriterState(), stream);
    const writer = stream.writer!;
    if (writer.isPublic || writer instanceof FeedWriterState) return writer;
    throw lockedError("write");
  }
}
inheritNothing(WritableFeed);

/** The writer by which the native side locks our stream, for as long as a native producer locks the native side. */
export class FeedWriterState extends WriterState {}

/** Gives our stream back, when the native side is not locked any longer. */
export function releaseWritableFeed(stream: WritableStreamState): void {
  if (stream.writer instanceof FeedWriterState) writableStreamDefaultWriterRelease(stream.writer);
}
