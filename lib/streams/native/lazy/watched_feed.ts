import type { ReadRequest } from "../../readable/read_requests.ts";
import { readableStreamReaderGenericInitialize } from "../../readable/reader_state.ts";
import type { ReadableStreamState } from "../../readable/stream_state.ts";
import { FeedReaderState, type NativeController, ReadableFeed } from "../feeds/readable_feed.ts";

/** The name under which Deno's readers ask a controller of theirs for a chunk; on other runtimes nobody's. */
const PULL_STEPS: symbol = Object.getOwnPropertySymbols(ReadableStreamDefaultController.prototype)
  .find(({ description }) => description === "[[PullSteps]]") ?? Symbol("none");

type AskedController = NativeController & Record<symbol, ((request: ReadRequest) => void) | undefined>;

/**
 * The underlying source of a native side that is made when the runtime looks for it: that shows at all times what our
 * stream is. Deno's readers find there a chunk that is buffered without a call of `pull()`, and a microtask, for each.
 */
export class WatchedReadableFeed extends ReadableFeed {
  readonly #stream: ReadableStreamState;
  /** The reader that was found at the last read. */
  #reader: FeedReaderState | undefined;
  /** Whether the native side may have a chunk in its own queue, which comes first. */
  #mayHoldChunks = false;

  constructor(stream: ReadableStreamState, type: "bytes" | undefined) {
    super(stream, type);
    this.#stream = stream;
  }

  start(controller: AskedController): void {
    this.watch(controller);
    const pullSteps = controller[PULL_STEPS];
    if (pullSteps === undefined) return;
    controller[PULL_STEPS] = (request) => {
      if (!this.#giveBuffered(controller, request)) pullSteps.call(controller, request);
    };
  }

  override chunkSteps(chunk: unknown): void {
    this.#mayHoldChunks = true;
    super.chunkSteps(chunk);
  }

  /** The pull steps of a controller that has the chunk in its own queue; returns whether there was one. */
  #giveBuffered(controller: NativeController, request: ReadRequest): boolean {
    const stream = this.#stream;
    if (!stream.controller.hasBuffered || (this.#mayHoldChunks && controller.desiredSize !== 0)) return false;
    if (stream.reader === undefined) readableStreamReaderGenericInitialize(new FeedReaderState(), stream);
    if (stream.reader !== this.#reader) {
      if (!(stream.reader instanceof FeedReaderState)) return false;
      this.#reader = stream.reader;
    }
    if (this.#reader!.requests.length > 0) return false;
    stream.disturbed = true;
    request.chunkSteps(stream.controller.readBuffered());
    return true;
  }
}
