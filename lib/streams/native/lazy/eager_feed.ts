import { hasReadMany } from "#streams/host";
import { inheritNothing, nativeGetReader, nativeReader } from "../../language/native_classes.ts";
import { DefaultControllerState } from "../../readable/default_controller_state.ts";
import { type DefaultReaderState, readableStreamReaderGenericInitialize } from "../../readable/stream_state.ts";
import { ReadableStreamState } from "../../readable/stream_state.ts";
import { FeedReaderState, type NativeController, ReadableFeed } from "../feeds/readable_feed.ts";

/**
 * The underlying source of a native side that gets chunks ahead of its demand: they count to our queue until they are read
 * there. Bun takes all that its side has queued at once, where a chunk for each pull takes a promise, too.
 */
export class LendingFeed extends ReadableFeed {
  #controller!: NativeController; // set before anything is lent
  /** How many chunks the native side had the last time that somebody counted. */
  #lent = 0;

  override pull(controller: NativeController): void {
    if (this.#lent > 0) this.countSteps();
    super.pull(controller);
    if (this.stream.controller.queue.length > 1) this.#lend(controller);
  }

  countSteps(): void {
    if (this.#lent === 0) return;
    const { state, controller: { queue } } = this.stream;
    const left = state === "readable" ? -this.#controller.desiredSize! : 0; // each counts 1, and the mark is 0
    for (; this.#lent > left; this.#lent--) {
      if (queue.length > 0) queue.dequeue();
    }
  }

  /** Takes back what nobody has read of the chunks lent; nobody locks the native side. */
  takeBack(): void {
    this.countSteps();
    if (this.#lent === 0) return;
    const reader = nativeGetReader.call(this.stream.nativeSide as ReadableStream) as ReadableStreamDefaultReader;
    for (; this.#lent > 0; this.#lent--) void nativeReader.read.call(reader);
    nativeReader.releaseLock.call(reader);
  }

  override lockStream(): DefaultReaderState {
    const { stream } = this;
    if (!stream.reader) readableStreamReaderGenericInitialize(new LendingReaderState(this), stream);
    return super.lockStream();
  }

  /**
   * Lends what the native side would ask for next, as far as nothing comes of it that the source sees: the chunks that are
   * buffered above the mark, of a source that has closed all but the last, with which the stream closes.
   */
  #lend(side: NativeController): void {
    const { controller, reader } = this.stream;
    if (!(reader instanceof LendingReaderState && controller instanceof DefaultControllerState)) return;
    const { closeRequested, highWaterMark, queue, sizeAlgorithm } = controller;
    if (!closeRequested && sizeAlgorithm !== undefined) return;
    const most = queue.length - (closeRequested ? 1 : Math.max(1, Math.ceil(highWaterMark)));
    this.#controller = side;
    while (this.#lent < most && reader === this.stream.reader) {
      side.enqueue(queue.at(this.#lent++) as never);
    }
  }
}

/** The reader by which the native side locks our stream. */
class LendingReaderState extends FeedReaderState {
  readonly #feed: LendingFeed;

  constructor(feed: LendingFeed) {
    super();
    this.#feed = feed;
  }

  override released(): void {
    this.#feed.takeBack();
    super.released();
  }
}

/** Whether the runtime takes all that is queued at once: else a chunk that is lent crosses no faster. */
const LENDS = hasReadMany;

/**
 * The underlying source of a native side that is made with its stream: the state itself, which has a feed made when the
 * runtime first pulls or cancels; of a byte stream a feed. The runtime never reads most streams, and a new one takes 0.95
 * of the time so, with a reader 0.93 (Bun).
 */
class LateFeed extends ReadableFeed {
  constructor(stream: ReadableStreamState, type: "bytes" | undefined) {
    if (type === undefined) return stream as unknown as LateFeed;
    super(stream, type);
  }
}

/** The feed of a native side that every stream is made with. */
export const EagerFeed: typeof ReadableFeed = LENDS ? LateFeed : ReadableFeed;

function feedOf(stream: ReadableStreamState): ReadableFeed {
  return stream.feed instanceof LendingFeed ? stream.feed : new LendingFeed(stream, undefined);
}

// Members for the runtime alone: our own code has none of these names on a state.
if (LENDS) {
  Object.defineProperties(ReadableStreamState.prototype, {
    pull: {
      value: function pull(this: ReadableStreamState, controller: NativeController): void {
        if (this.idleLock === undefined) feedOf(this).pull(controller);
      },
    },
    cancel: {
      value: function cancel(this: ReadableStreamState, reason: unknown): Promise<void> {
        return feedOf(this).cancel(reason);
      },
    },
  });
  inheritNothing(ReadableStreamState);
}
