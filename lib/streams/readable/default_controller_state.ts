import { checkedSize, ChunkQueue, type SizeAlgorithm } from "../queuing/chunk_queue.ts";
import type { Callback } from "../language/webidl.ts";
import { ReadableControllerState, type SourceAlgorithms } from "./controller_state.ts";
import { type DefaultReaderState, ReadableStreamState, type ReadRequest } from "./stream_state.ts";

/** The {@link https://streams.spec.whatwg.org/#rs-default-controller-class internal slots} of a default controller. */
export class DefaultControllerState extends ReadableControllerState {
  queue: ChunkQueue = new ChunkQueue();
  sizeAlgorithm: SizeAlgorithm;

  constructor(
    stream: ReadableStreamState,
    source: SourceAlgorithms,
    highWaterMark: number,
    sizeAlgorithm: SizeAlgorithm,
  ) {
    super(stream, source, highWaterMark);
    this.sizeAlgorithm = sizeAlgorithm;
  }

  readBuffered(): unknown {
    const chunk = this.queue.dequeue();
    this.afterDequeue();
    return chunk;
  }

  /** @see {@link https://streams.spec.whatwg.org/#rs-default-controller-private-pull} */
  pullSteps(request: ReadRequest): void {
    if (this.queue.length > 0) {
      request.chunkSteps(this.readBuffered());
    } else {
      (this.stream.reader as DefaultReaderState).requests.push(request);
      this.callPullIfNeeded();
    }
  }

  releaseSteps(): void {}

  /**
   * @throws {unknown} what the size algorithm throws, or a RangeError for an invalid size.
   * @see {@link https://streams.spec.whatwg.org/#readable-stream-default-controller-enqueue}
   */
  enqueue(chunk: unknown): void {
    if (!this.canCloseOrEnqueue) return;
    this.enqueueWithoutPull(chunk);
    this.callPullIfNeeded();
  }

  /** Does what `enqueue()` does without its first step, which the caller has run, and its last, which the caller runs later. */
  enqueueWithoutPull(chunk: unknown): void {
    const reader = this.stream.reader as DefaultReaderState | undefined;
    if (reader && reader.requests.length > 0) {
      reader.requests.shift().chunkSteps(chunk);
    } else if (!this.sizeAlgorithm) {
      this.queue.enqueue(chunk, 1);
    } else {
      this.#enqueueWithSize(chunk, this.sizeAlgorithm);
    }
  }

  #enqueueWithSize(chunk: unknown, sizeAlgorithm: Callback): void {
    let size: number;
    try {
      size = checkedSize(sizeAlgorithm.call(undefined, chunk));
    } catch (error) {
      this.error(error);
      throw error;
    }
    if (this.stream.state === "readable") this.queue.enqueue(chunk, size); // size() may have ended the stream
  }
}

/** @see {@link https://streams.spec.whatwg.org/#create-readable-stream} */
export function createReadableStream(source: SourceAlgorithms, highWaterMark: number): ReadableStreamState {
  const stream = new ReadableStreamState();
  stream.controller = new DefaultControllerState(stream, source, highWaterMark, undefined);
  stream.controller.start(undefined);
  return stream;
}
