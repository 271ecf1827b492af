import type { Readable } from "node:stream";
import type { BodyReader } from "./body_reader.ts";
import { gatherLimit, holdBytes, releaseBytes } from "./in_flight.ts";
import { leftError } from "./left_error.ts";

/** Reads a body from a request of `node:http` or `node:http2`, or another readable of bytes. */
export class NodeBody implements BodyReader {
  readonly #readable: Readable;
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

  /** @throws {TypeError} if somebody else has read it. */
  constructor(readable: Readable) {
    this.#readable = readable;
    if (readable.readableEnded || readable.readableDidRead) {
      throw new TypeError("The body of the request has been read already");
    }
    holdBytes();
    if (readable.destroyed) return this.#fail(leftError(readable.errored));
    readable.on("data", this.#onData).on("end", this.#onEnd);
    readable.on("error", this.#onError).on("aborted", this.#onClose).on("close", this.#onClose);
  }

  read(): Promise<readonly Uint8Array[] | undefined> {
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
    if ("headers" in this.#readable) this.#readable.pause();
    else this.#readable.destroy();
    return Promise.resolve();
  }

  #give(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#gathered = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#readable.resume();
    }
    return pieces;
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#pieces.push(chunk);
    this.#gathered += chunk.length;
    if (this.#waiting) {
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      resolve(this.#give());
    } else if (this.#gathered >= gatherLimit()) {
      this.#isPaused = true;
      this.#readable.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#hasEnded = true;
    this.#stop();
    this.#waiting?.resolve(undefined);
  };

  readonly #onError = (error: unknown): void => this.#fail(leftError(error));

  readonly #onClose = (): void => this.#fail(leftError(this.#readable.errored));

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
