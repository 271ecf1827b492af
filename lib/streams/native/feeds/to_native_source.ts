import { Deferred } from "../../language/promises.ts";
import type { ReadRequest } from "../../readable/read_requests.ts";
import { readableStreamDefaultReaderRead, readableStreamReaderGenericInitialize } from "../../readable/reader_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "../../readable/stream_state.ts";
import { UnseenReaderState } from "./readable_feed.ts";

type NativeController = ReadableStreamDefaultController<unknown> | ReadableByteStreamController;

/** The underlying source of a native stream that takes all that our stream has buffered at each pull. */
export class ToNativeSource implements ReadRequest {
  readonly type: "bytes" | undefined;
  readonly #stream: ReadableStreamState;
  readonly #reader = new UnseenReaderState();
  #controller!: NativeController; // set by start()
  #pull: Deferred<void> | undefined;
  #isReading = false;
  #ended = false;

  constructor(stream: ReadableStreamState, isByteStream: boolean) {
    this.type = isByteStream ? "bytes" : undefined;
    this.#stream = stream;
  }

  start(controller: NativeController): void {
    this.#controller = controller;
    readableStreamReaderGenericInitialize(this.#reader, this.#stream);
    this.#stream.feed = this;
    this.closeSteps();
  }

  pull(): Promise<void> | undefined {
    const { controller } = this.#stream;
    let taken = 0;
    this.#isReading = true;
    while (!this.#ended && controller.hasBuffered && (taken === 0 || this.#controller.desiredSize! > 0)) {
      this.#stream.disturbed = true;
      this.chunkSteps(controller.readBuffered());
      taken++;
    }
    this.#isReading = false;
    this.closeSteps();
    if (taken > 0 || this.#ended) return undefined;
    this.#pull = new Deferred();
    readableStreamDefaultReaderRead(this.#reader, this);
    return this.#pull?.promise;
  }

  cancel(reason: unknown): Promise<void> {
    this.#ended = true;
    return readableStreamCancel(this.#stream, reason);
  }

  chunkSteps(chunk: unknown): void {
    this.#controller.enqueue(chunk as never);
    this.#settlePull();
  }

  /** Tells of the end, if there is one: a chunk that is taken may have our stream end before we have it. */
  closeSteps(): void {
    const { state, storedError } = this.#stream;
    if (state === "readable" || this.#ended || this.#isReading) return;
    this.#ended = true;
    if (state === "errored") {
      this.#controller.error(storedError);
    } else {
      this.#controller.close();
      (this.#controller as ReadableByteStreamController).byobRequest?.respond(0);
    }
    this.#settlePull();
  }

  errorSteps(): void {
    this.closeSteps();
  }

  #settlePull(): void {
    this.#pull?.resolve();
    this.#pull = undefined;
  }
}
