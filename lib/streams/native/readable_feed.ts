import type { ReadRequest } from "../readable/read_requests.ts";
import {
  DefaultReaderState,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericInitialize,
  readableStreamReaderRelease,
} from "../readable/reader_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "../readable/stream_state.ts";

/** The native side holds nothing: it asks for a chunk when a native consumer does. */
export const NO_BUFFER: QueuingStrategy = Object.assign(Object.create(null), { highWaterMark: 0 });

/**
 * The underlying source of a readable stream's native side: what a native consumer asks of it is read from ours.
 *
 * Our stream is locked from the first such request on; before it, nothing tells us that a native consumer is there.
 */
export class ReadableFeed implements UnderlyingDefaultSource<unknown>, ReadRequest {
  readonly #stream: ReadableStreamState;
  #controller: ReadableStreamDefaultController<unknown> | undefined = undefined;
  #reader: FeedReaderState | undefined = undefined;
  #isReading = false;
  /** Whether our stream closed; where a read takes its last chunk, it does so before it gives it. */
  #hasClosed = false;
  #ended = false;

  constructor(stream: ReadableStreamState) {
    this.#stream = stream;
  }

  pull(controller: ReadableStreamDefaultController<unknown>): void {
    this.#controller = controller;
    this.#reader ??= lock(this.#stream, this);
    if (this.#ended) return;
    this.#isReading = true;
    readableStreamDefaultReaderRead(this.#reader, this);
    this.#isReading = false;
    if (this.#hasClosed) this.closeSteps();
  }

  cancel(reason: unknown): Promise<void> {
    this.#ended = true;
    this.#reader ??= lock(this.#stream, this);
    return readableStreamCancel(this.#stream, reason);
  }

  chunkSteps(chunk: unknown): void {
    this.#controller!.enqueue(chunk);
  }

  closeSteps(): void {
    this.#hasClosed = true;
    if (this.#ended || this.#isReading) return;
    this.#ended = true;
    this.#controller?.close();
  }

  errorSteps(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#controller?.error(error);
  }

  static {
    Object.setPrototypeOf(ReadableFeed.prototype, null); // what is on Object.prototype is no source's
  }

  /** Gives our stream back, when the native side is not locked any longer. */
  release(): void {
    if (this.#reader === undefined) return;
    this.#reader.feed = undefined;
    readableStreamReaderRelease(this.#reader);
    this.#reader = undefined;
  }
}

/** What is told when our stream ends. */
interface StreamEnd {
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/** The reader by which the native side locks our stream. */
export class FeedReaderState extends DefaultReaderState {
  feed: StreamEnd | undefined;
  override readonly fused = true;

  constructor(feed: StreamEnd) {
    super();
    this.feed = feed;
  }

  override streamClosed(): void {
    super.streamClosed();
    this.feed?.closeSteps();
  }

  override streamErrored(error: unknown): void {
    super.streamErrored(error);
    this.feed?.errorSteps(error);
  }
}

function lock(stream: ReadableStreamState, feed: ReadableFeed): FeedReaderState {
  if (stream.reader !== undefined) throw new TypeError("Cannot read: the stream is locked to a reader");
  const reader = new FeedReaderState(feed);
  readableStreamReaderGenericInitialize(reader, stream);
  return reader;
}
