import { inheritNothing } from "../../language/native_classes.ts";
import {
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericCancel,
  readableStreamReaderGenericInitialize,
  type ReadRequest,
} from "../../readable/stream_state.ts";
import { Deferred } from "../../language/promises.ts";
import type { TransformStreamState } from "../../transform/transform_state.ts";
import { writableStreamClose } from "../../writable/stream_state.ts";
import {
  setUpWritableStreamDefaultWriter,
  writableStreamDefaultWriterWrite,
  type WriterState,
} from "../../writable/writer_state.ts";
import { FeedReaderState } from "./readable_feed.ts";
import { FeedWriterState } from "./writable_feed.ts";

/** The transformer of a transform stream's native side, used only by transfers: passes chunks through the stream. */
export class TransformFeed implements Transformer<unknown, unknown>, ReadRequest {
  readonly #transform: TransformStreamState;
  #ended: Deferred<void> | undefined;
  #controller: TransformStreamDefaultController<unknown> | undefined;
  #writer: WriterState | undefined;
  #reader: FeedReaderState | undefined;

  constructor(transform: TransformStreamState) {
    this.#transform = transform;
  }

  transform(chunk: unknown, controller: TransformStreamDefaultController<unknown>): Promise<void> {
    return writableStreamDefaultWriterWrite(this.#lock(controller), chunk);
  }

  async flush(controller: TransformStreamDefaultController<unknown>): Promise<void> {
    await writableStreamClose(this.#lock(controller).stream!);
    await this.#ended!.promise;
  }

  cancel(reason: unknown): Promise<void> {
    this.#lock(undefined);
    return readableStreamReaderGenericCancel(this.#reader!, reason);
  }

  chunkSteps(chunk: unknown): void {
    this.#controller!.enqueue(chunk);
    readableStreamDefaultReaderRead(this.#reader!, this);
  }

  closeSteps(): void {
    this.#ended!.resolve();
  }

  errorSteps(error: unknown): void {
    this.#ended!.resolve();
    this.#controller?.error(error);
  }

  #lock(controller: TransformStreamDefaultController<unknown> | undefined): WriterState {
    this.#controller ??= controller;
    if (this.#writer) return this.#writer;
    const { readable, writable } = this.#transform;
    this.#ended = new Deferred();
    this.#writer = new FeedWriterState();
    setUpWritableStreamDefaultWriter(this.#writer, writable);
    this.#reader = new FeedReaderState();
    readableStreamReaderGenericInitialize(this.#reader, readable);
    readableStreamDefaultReaderRead(this.#reader, this);
    return this.#writer;
  }
}
inheritNothing(TransformFeed);
