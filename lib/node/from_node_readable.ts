import type { Readable } from "node:stream";
import { refuseOptions } from "../streams/internal.ts";
import { ReadableStream, type ReadableStreamDefaultController, type UnderlyingDefaultSource } from "../streams/mod.ts";
import { type Bridge, listen, prematureClose, requireMethods, toError } from "./bridge.ts";

/** The source of a readable's chunks, on demand. Listens only while it is read, since a listener would withhold data from `pipe()`. */
class ReadableSource<R> implements UnderlyingDefaultSource<R>, Bridge {
  readonly stream: ReadableStream<R>;
  readonly #readable: Readable;
  #controller: ReadableStreamDefaultController<R> = undefined as never; // assigned by start()
  #stopListening: (() => void) | undefined = undefined;
  #listensForData = false;
  /** Whether a pull waits for data from the readable. */
  #isWanted = false;
  /** Whether the stream has closed or errored, or was cancelled. */
  #isOver = false;

  constructor(readable: Readable) {
    this.#readable = readable;
    this.stream = new ReadableStream<R>(this, { highWaterMark: 0 });
  }

  start(controller: ReadableStreamDefaultController<R>): void {
    this.#controller = controller;
    this.#listen();
  }

  #listen(): void {
    const controller = this.#controller;
    const readable = this.#readable;
    if (readable.readableEnded) {
      this.#isOver = true;
      controller.close();
    } else if (readable.destroyed) {
      this.#isOver = true;
      controller.error(readable.errored ?? leftError());
    } else {
      this.#stopListening = listen(readable, "end", this);
    }
  }

  /** Stops listening until the next read, if the stream is unlocked: another stream may follow. */
  leave(): void {
    if (this.stream.locked) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  pull(): void {
    if (this.#stopListening === undefined) this.#listen();
    if (this.#isOver) return;
    this.#isWanted = true;
    this.#read();
    if (!this.#isWanted || this.#isOver) return;
    this.#listenForData();
  }

  cancel(reason: unknown): void {
    this.#isOver = true;
    this.#readable.destroy(reason === undefined ? undefined : toError(reason, "The stream was cancelled"));
  }

  /** Takes one chunk: chunks in this stream's queue would be lost to other readers of the readable. */
  #read(): void {
    const chunk: unknown = this.#readable.read();
    if (chunk === null) return;
    this.#isWanted = false;
    this.#controller.enqueue(this.#toChunk(chunk));
  }

  #toChunk(chunk: unknown): R {
    const isBuffer = chunk instanceof Uint8Array && !this.#readable.readableObjectMode;
    return (isBuffer ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : chunk) as R;
  }

  #listenForData(): void {
    if (this.#listensForData) return;
    this.#listensForData = true;
    this.#readable.on("readable", this.#onReadable);
  }

  #stopListeningForData(): void {
    this.#listensForData = false;
    this.#readable.off("readable", this.#onReadable);
  }

  readonly #onReadable = (): void => {
    this.#isWanted &&= this.stream.locked; // otherwise the read was given up, and other readers may take the chunk
    if (this.#isWanted && !this.#isOver) this.#read();
    else this.#stopListeningForData();
  };

  onEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.close();
  }

  onError(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.error(error);
  }

  onClose(): void {
    this.#stopListeningForData();
    if (!this.#isOver) this.onError(this.#readable.errored ?? leftError());
  }
}

/** The property of a readable for its latest bridge: a WeakMap would make a page a tenth larger. */
const BRIDGE: unique symbol = Symbol("millrace, readable");

function leftError(): Error {
  return prematureClose("Cannot read: the readable was destroyed before its end", undefined);
}

/**
 * Converts a readable of `node:stream` to a ReadableStream: a request of `node:http` or `node:http2`, a socket, a file,
 * standard input.
 *
 * Chunks are Uint8Arrays, strings if the readable has an encoding, or any values in object mode. The stream takes a
 * chunk only for a pending read; the readable's own high-water mark limits its reading ahead.
 *
 * The stream is not a byte stream: that would have to detach the chunks' buffers, which small chunks share in Node.
 *
 * Cancelling the stream destroys the readable; for a request of `node:http` with an incomplete body, that closes the
 * connection. If the readable fails, or closes before its end, for example because the client left, the stream errors.
 * Only a cancellation destroys the readable: after a pipe or a loop with `preventCancel`, other code can read the rest.
 *
 * @param readable The source. No other code should read from it meanwhile.
 * @throws {TypeError} if `readable` is not a readable stream of Node.
 * @example A readable of objects
 * ```ts
 * import { fromNodeReadable } from "@millrace/streams/node";
 * import { Readable } from "node:stream";
 *
 * const words = fromNodeReadable<string>(Readable.from(["mill", "race"]));
 * for await (const word of words) console.log(word); // mill, race
 * ```
 */
export function fromNodeReadable<R = Uint8Array<ArrayBuffer>>(readable: Readable): ReadableStream<R> {
  refuseOptions("fromNodeReadable()", arguments[1]);
  requireMethods(readable, "the readable", "a readable stream of node:stream", ["read", "destroy", "on", "off"]);
  const bridged = readable as { [BRIDGE]?: ReadableSource<unknown> };
  bridged[BRIDGE]?.leave();
  bridged[BRIDGE] = new ReadableSource<unknown>(readable);
  return bridged[BRIDGE].stream as ReadableStream<R>;
}
