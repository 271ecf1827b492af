import type { Readable } from "node:stream";
import type { ReadableStreamDefaultController, UnderlyingDefaultSource } from "../streams/mod.ts";
import { prematureClose, toError } from "./premature_close.ts";

/** Reads from a readable what it has buffered, when the stream is read; and otherwise as soon as there is something. */
export class ReadableSource<R> implements UnderlyingDefaultSource<R> {
  readonly #readable: Readable;
  #controller: ReadableStreamDefaultController<R> = undefined as never; // set by start()
  /** Whether somebody waits for what the readable did not have. */
  #isWanted = false;
  /** Whether the stream has closed or errored, or was cancelled. */
  #isOver = false;

  constructor(readable: Readable) {
    this.#readable = readable;
  }

  start(controller: ReadableStreamDefaultController<R>): void {
    this.#controller = controller;
    const readable = this.#readable;
    if (readable.readableEnded) {
      this.#isOver = true;
      controller.close();
    } else if (readable.destroyed) {
      this.#isOver = true;
      controller.error(readable.errored ?? leftError());
    } else {
      readable.on("error", this.#onError).on("end", this.#onEnd).on("close", this.#onClose);
      readable.on("readable", this.#onReadable);
    }
  }

  pull(): void {
    this.#isWanted = true;
    this.#read();
  }

  cancel(reason: unknown): void {
    this.#isOver = true;
    this.#readable.destroy(reason === undefined ? undefined : toError(reason, "The stream was cancelled"));
  }

  #read(): void {
    const readable = this.#readable;
    // Reading may bring about more at once: without a limit, a source that always has some would never let go.
    let left = readable.readableLength;
    do {
      const chunk: unknown = readable.read();
      if (chunk === null) return;
      this.#isWanted = false;
      left -= readable.readableObjectMode ? 1 : (chunk as Uint8Array | string).length;
      this.#controller.enqueue(this.#toChunk(chunk));
    } while (left > 0 && !this.#isOver);
  }

  #toChunk(chunk: unknown): R {
    const isBuffer = chunk instanceof Uint8Array && !this.#readable.readableObjectMode;
    return (isBuffer ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : chunk) as R;
  }

  readonly #onReadable = (): void => {
    if (this.#isWanted && !this.#isOver) this.#read();
  };

  readonly #onEnd = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.close();
  };

  readonly #onError = (error: unknown): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.error(error);
  };

  /** Until then what listens also keeps late errors from being uncaught. */
  readonly #onClose = (): void => {
    const readable = this.#readable;
    readable.off("error", this.#onError).off("end", this.#onEnd).off("close", this.#onClose);
    readable.off("readable", this.#onReadable);
    if (!this.#isOver) this.#onError(readable.errored ?? leftError());
  };
}

function leftError(): Error {
  return prematureClose("Cannot read: the readable was destroyed before its end", undefined);
}
