import type { EventEmitter } from "node:events";
import process from "node:process";
import type { Writable } from "node:stream";
import type { BatchedUnderlyingSink } from "../batch/mod.ts";
import { Deferred } from "../streams/internal.ts";
import type { WritableStreamDefaultController } from "../streams/mod.ts";
import { type Http2End, http2EndOf, isWithoutBody } from "./http2_end.ts";
import { areLarge, joinChunks } from "./joined_chunks.ts";
import { prematureClose, toError } from "./premature_close.ts";

/** Codes of a write that was dropped because its stream was destroyed: they do not tell why. */
const DROPPED: readonly unknown[] = [
  "ECANCELED",
  "ERR_STREAM_DESTROYED",
  "ERR_SOCKET_CLOSED",
  "ERR_HTTP2_INVALID_STREAM",
];

/**
 * Writes batches to a writable, one at a time: the next one when the writable has called back that the last one is
 * written. That keeps to its backpressure, whatever its own high-water mark, and what is not written is never
 * acknowledged. Writables do not write several chunks at once either, but as one batch.
 */
export class WritableSink implements BatchedUnderlyingSink<unknown> {
  readonly maxBatch: number;
  readonly #writable: Writable;
  readonly #http2: Http2End | undefined;
  /** Tells what becomes of the writable. An Http2ServerResponse would say that it has finished when it was reset. */
  readonly #events: EventEmitter;
  readonly #isStandardOutput: boolean;
  #controller: WritableStreamDefaultController = undefined as never; // set by start()
  /** The batch that is being written, or the end. */
  #pending: Deferred<void> | undefined = undefined;
  /** Whether an abort is seen while something is pending. A signal for each stream would cost a page a tenth. */
  #seesAborts = false;
  #isEnding = false;
  /** Whether the writable has finished or failed, or is not ours any more. */
  #isOver = false;

  constructor(writable: Writable, maxBatch: number) {
    this.maxBatch = maxBatch;
    this.#writable = writable;
    this.#http2 = http2EndOf(writable);
    this.#events = this.#http2 ?? writable;
    this.#isStandardOutput = isStandardOutput(writable);
  }

  start(controller: WritableStreamDefaultController): void {
    this.#controller = controller;
    const writable = this.#writable;
    if (writable.writableEnded && this.#isWithoutBody()) {
      this.#isOver = true;
    } else if (writable.destroyed || writable.closed || writable.writableEnded || this.#http2?.destroyed) {
      this.#isOver = true;
      const state = writable.writableEnded ? "has ended" : "is destroyed";
      controller.error(prematureClose(`Cannot write: the writable ${state}`, writable.errored));
    } else {
      this.#events.on("error", this.#fail).on("finish", this.#onFinish).on("close", this.#onClose);
    }
  }

  /** With the last batch the writable ends, so that an HTTP response can be one packet with its length at its head. */
  writev(chunks: unknown[], _controller?: WritableStreamDefaultController, isLast = false): Promise<void> | undefined {
    if (this.#isWithoutBody()) return undefined;
    const pending = this.#begin();
    try {
      if (this.#writable.writableObjectMode) this.#writeEach(chunks);
      else if (isLast && !this.#isStandardOutput) this.#end(joinChunks(chunks));
      else if (chunks.length > 1 && areLarge(chunks)) this.#writeEach(chunks);
      else this.#writable.write(joinChunks(chunks), this.#onWritten);
    } catch (error) {
      this.#fail(error);
    }
    return pending.promise;
  }

  close(): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    if (this.#isStandardOutput || this.#isWithoutBody()) {
      this.#isOver = true;
      if (this.#isStandardOutput) this.#letGo();
      else this.#writable.end(); // has finished already, as http2 sees it
      return undefined;
    }
    const pending = this.#begin();
    this.#end(undefined);
    return pending.promise;
  }

  abort(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pending?.reject(reason);
    if (this.#isStandardOutput) this.#letGo();
    else this.#writable.destroy(toError(reason, "The stream was aborted"));
  }

  #isWithoutBody(): boolean {
    return this.#http2 !== undefined && isWithoutBody(this.#http2, this.#writable);
  }

  #begin(): Deferred<void> {
    if (!this.#seesAborts) {
      this.#seesAborts = true;
      setImmediate(this.#onEndOfTurn);
    }
    return this.#pending = new Deferred<void>();
  }

  /** What is still being written would delay an abort, for ever if nobody reads. Most of what is written is not. */
  readonly #onEndOfTurn = (): void => {
    this.#seesAborts = this.#pending !== undefined;
    if (!this.#seesAborts || this.#isOver) return;
    const { signal } = this.#controller;
    if (signal.aborted) this.abort(signal.reason);
    else signal.addEventListener("abort", () => this.abort(signal.reason));
  };

  #writeEach(chunks: readonly unknown[]): void {
    const writable = this.#writable;
    writable.cork();
    const last = chunks.length - 1;
    for (let i = 0; i < last; i++) writable.write(chunks[i]);
    writable.write(chunks[last], this.#onWritten);
    writable.uncork();
  }

  #end(chunk: string | Uint8Array | undefined): void {
    this.#isEnding = true;
    if (chunk === undefined) this.#writable.end();
    else this.#writable.end(chunk);
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (error) {
      const { code } = error as { code?: unknown };
      this.#fail(DROPPED.includes(code) ? this.#leftError(error) : error);
    } else if (this.#http2?.rstCode) {
      this.#fail(this.#leftError(undefined)); // a stream that is reset says that all is written
    } else {
      this.#settle();
    }
  };

  readonly #onFinish = (): void => {
    if (this.#isOver || this.#isWithoutBody()) return;
    if (!this.#isEnding) {
      this.#fail(prematureClose("Cannot write: the writable was ended before the stream was closed", undefined));
    } else if (this.#http2?.rstCode) {
      this.#fail(this.#leftError(undefined));
    } else {
      this.#isOver = true;
      this.#settle();
    }
  };

  readonly #onClose = (): void => {
    this.#letGo();
    if (!this.#isOver) this.#fail(this.#leftError(undefined));
  };

  /** Errors the stream, and leaves the writable as good as destroyed: nothing else will end it. */
  readonly #fail = (error: unknown): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.error(error);
    this.#pending?.reject(error);
    if (this.#isStandardOutput) this.#letGo();
    else this.#writable.destroy(toError(error, "The stream failed"));
  };

  #leftError(error: unknown): Error {
    const cause = this.#writable.errored ?? error;
    return prematureClose("Cannot write: the writable was destroyed before the stream was closed", cause);
  }

  #settle(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve();
  }

  /** Stops listening. Until a writable has closed, what listens also keeps late errors from being uncaught. */
  #letGo(): void {
    this.#events.off("error", this.#fail).off("finish", this.#onFinish).off("close", this.#onClose);
  }
}

/** Those of the process stay open, as for `node:stream`'s `pipeline()`: others write to them too. */
function isStandardOutput(writable: Writable): boolean {
  const { fd } = writable as { fd?: unknown };
  if (fd === 1) return writable === process.stdout as unknown;
  return fd === 2 && writable === process.stderr as unknown;
}
