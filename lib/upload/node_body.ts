import type { Readable } from "node:stream";
import { setImmediate } from "node:timers";
import type { BodyReader } from "./body_reader.ts";
import { holdBytes, releaseBytes, shareOf } from "./in_flight.ts";
import { freeChunks, isOurs } from "./free_chunks.ts";
import { leftError } from "./left_error.ts";
import { notBytes } from "./not_bytes.ts";

/** Bytes that all bodies of this kind may hold at a time: larger writes do not take less time. */
const BUDGET = 16 * 1024 * 1024;

/** Reads a body from a request of `node:http` or `node:http2`, or another readable of bytes. */
export class NodeBody implements BodyReader {
  readonly #readable: Readable;
  readonly #isRequest: boolean;
  #pieces: Uint8Array[] = [];
  /** Bytes of the pieces. */
  #gathered = 0;
  #isPaused = false;
  /** Settles the read that waits. */
  #waiting: { resolve(pieces: readonly Uint8Array[] | undefined): void; reject(error: unknown): void } | undefined =
    undefined;
  #hasEnded = false;
  #failure: { readonly reason: unknown } | undefined = undefined;
  #isListening = true;
  /** What the last read gave, and the one before, as far as it is ours to free. */
  #given: readonly Uint8Array[] = [];
  #givenBefore: readonly Uint8Array[] = [];

  /** @throws {TypeError} if somebody else has read it, or it gives text. */
  constructor(readable: Readable) {
    this.#readable = readable;
    this.#isRequest = "headers" in readable;
    if (readable.readableEnded || readable.readableDidRead) {
      throw new TypeError("The body of the request has been read already");
    }
    if (readable.readableEncoding) throw new TypeError("The body gives text, not bytes: setEncoding() was called");
    holdBytes();
    readable.on("error", this.#onError);
    if (readable.destroyed) {
      this.#onClose();
    } else {
      readable.on("data", this.#onData).on("end", this.#onEnd).on("aborted", this.#onClose).on("close", this.#onClose);
      readable.resume(); // it may have been paused until somebody wants it
    }
  }

  read(): Promise<readonly Uint8Array[] | undefined> {
    this.#free();
    if (this.#gathered > 0) return Promise.resolve(this.#give());
    if (this.#failure) return Promise.reject(this.#failure.reason);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => this.#waiting = { resolve, reject });
  }

  cancel(reason: unknown): Promise<void> {
    if (this.#hasEnded || this.#failure) return Promise.resolve();
    this.#pieces = [];
    this.#gathered = 0;
    this.#fail(reason);
    // A request's socket is needed for the answer; who answers decides what becomes of it.
    if (this.#isRequest) this.#readable.pause();
    else this.#readable.destroy();
    return Promise.resolve();
  }

  #give(): readonly Uint8Array[] {
    const pieces = this.#given = this.#pieces;
    this.#pieces = [];
    this.#gathered = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#readable.resume();
    }
    return pieces;
  }

  /** Frees what is not good any more. */
  #free(): void {
    if (isOurs(this.#readable)) freeChunks(this.#givenBefore);
    this.#givenBefore = this.#given;
    this.#given = [];
  }

  readonly #onData = (chunk: unknown): void => {
    if (!(chunk instanceof Uint8Array)) return void this.cancel(notBytes(chunk));
    this.#pieces.push(chunk);
    this.#gathered += chunk.length;
    if (this.#waiting) {
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      resolve(this.#give());
    } else if (this.#gathered >= shareOf(BUDGET)) {
      this.#isPaused = true;
      this.#readable.pause();
    }
  };

  readonly #onEnd = (): void => {
    // http2's own client, among others, ends a body that it cancels: the cancellation is the next that comes.
    if ("stream" in this.#readable) setImmediate(this.#complete);
    else this.#complete();
  };

  readonly #complete = (): void => {
    if (this.#failure) return;
    if ("stream" in this.#readable && (this.#readable as { aborted?: boolean }).aborted) return this.#onClose();
    this.#hasEnded = true;
    this.#stop();
    this.#waiting?.resolve(undefined);
  };

  /** A request's errors are senders who left; those of other readables are told as they are. */
  readonly #onError = (error: unknown): void => this.#fail(this.#isRequest || !error ? leftError(error) : error);

  readonly #onClose = (): void => this.#onError(this.#readable.errored);

  #fail(reason: unknown): void {
    if (this.#hasEnded || this.#failure) return;
    this.#failure = { reason };
    this.#stop();
    this.#waiting?.reject(reason);
  }

  #stop(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    releaseBytes();
    const readable = this.#readable;
    readable.off("data", this.#onData).off("end", this.#onEnd);
    readable.off("aborted", this.#onClose).off("close", this.#onClose);
    // The listener for errors stays: one that comes late would be uncaught.
  }
}
