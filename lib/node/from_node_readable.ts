import type { Readable } from "node:stream";
import { ReadableStream, type ReadableStreamDefaultController, type UnderlyingDefaultSource } from "../streams/mod.ts";
import { type Bridge, listen, prematureClose, requireMethods, toError } from "./bridge.ts";

/** The source of a readable's chunks, on demand. Listens only while it is read: a listener keeps data from `pipe()`. */
class ReadableSource<R> implements UnderlyingDefaultSource<R>, Bridge {
  readonly stream: ReadableStream<R>;
  readonly #readable: Readable;
  #controller: ReadableStreamDefaultController<R> = undefined as never; // set by start()
  #stopListening: (() => void) | undefined = undefined;
  #listensForData = false;
  /** Whether a pull waits for data of the readable. */
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

  /** Stops listening until the next read, if the stream is unlocked: another one follows. */
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

  /** Takes one chunk: what this stream had in its queue, no other reader of the readable would get. */
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
    this.#isWanted &&= this.stream.locked; // else the read that wanted it was given up, and others may take it
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

/** The property of a readable that holds its latest bridge: a WeakMap would make a page a tenth larger. */
const BRIDGE: unique symbol = Symbol("millrace, readable");

function leftError(): Error {
  return prematureClose("Cannot read: the readable was destroyed before its end", undefined);
}

/**
 * Makes a ReadableStream of a readable of `node:stream`: a request of `node:http` or `node:http2`, a socket, a file,
 * standard input.
 *
 * Chunks are Uint8Arrays; strings if the readable has an encoding; what the readable gives if it is in object mode. The
 * stream takes each when a read wants it: how far ahead the readable reads is for its own high-water mark to say.
 *
 * The stream is no byte stream: that would have to detach the chunks' buffers, and Node lets small chunks share one.
 *
 * Cancelling the stream destroys the readable; for a request of `node:http` whose body has not all arrived that closes
 * the connection. If the readable fails, or closes before its end, as a request whose visitor has left, the stream
 * errors. Nothing but a cancellation destroys it: after a pipe or a loop with `preventCancel` others can read the rest.
 *
 * @param readable The source. Nothing else should read from it meanwhile.
 * @throws {TypeError} if `readable` is no readable stream of Node.
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
  requireMethods(readable, "the readable", "a readable stream of node:stream", ["read", "destroy", "on", "off"]);
  const bridged = readable as { [BRIDGE]?: ReadableSource<unknown> };
  bridged[BRIDGE]?.leave();
  bridged[BRIDGE] = new ReadableSource<unknown>(readable);
  return bridged[BRIDGE].stream as ReadableStream<R>;
}
