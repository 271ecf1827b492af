import { inheritNothing, isNativeReadableStreamLocked } from "../../language/native_classes.ts";
import { cannot, lockedError } from "../../language/errors.ts";
import type { ByteQueue } from "../../readable/pull_into.ts";
import {
  DefaultReaderState,
  readableStreamCancel,
  readableStreamDefaultReaderRead,
  readableStreamReaderGenericInitialize,
  readableStreamReaderRelease,
  type ReadableStreamState,
  type ReadRequest,
} from "../../readable/stream_state.ts";
import { releaseIdleLock } from "../native_locks.ts";

/** A strategy with which the native side buffers nothing: it pulls a chunk when a native consumer reads. */
export const NO_BUFFER: QueuingStrategy = Object.assign(Object.create(null), { highWaterMark: 0 });

export type NativeController =
  | globalThis.ReadableStreamDefaultController<unknown>
  | globalThis.ReadableByteStreamController;

/** Ends a stream like {@linkcode endByteStream}, by its public or native controller. */
export function endBytes(controller: Pick<globalThis.ReadableByteStreamController, "close" | "byobRequest">): void {
  try {
    controller.close();
    controller.byobRequest?.respond(0);
  } catch {
    // the reader, or that of a branch, has the error
  }
}

/** The source of a readable stream's native side: reads with the reader that locks both sides, or with a private one. */
export class NativeReadableSource implements ReadRequest {
  readonly type: "bytes" | undefined;
  readonly stream: ReadableStreamState;
  nativeController!: NativeController; // assigned before this becomes the feed of the stream
  #isReading = false;
  /** Whether a read is pending. One read suffices: the native side pulls again if it needs another chunk. */
  #isWaiting = false;
  #ended = false;

  constructor(stream: ReadableStreamState, type: "bytes" | undefined) {
    this.type = type;
    this.stream = stream;
  }

  pull(controller: NativeController): void {
    if (this.stream.idleLock !== undefined) return;
    this.nativeController = controller;
    const reader = this.lockStream();
    if (this.#ended || this.#isWaiting) return;
    this.stream.disturbed = true; // the native side is disturbed, too
    this.#isReading = true;
    if (this.stream.controller.hasBuffered) {
      this.#giveBuffered();
    } else {
      this.#isWaiting = true;
      readableStreamDefaultReaderRead(reader, this);
    }
    this.#isReading = false;
    this.closeSteps();
  }

  /** Enqueues bytes or a chunk before the source is pulled for more: the native consumer may leave in that call. */
  #giveBuffered(): void {
    const { controller } = this.stream;
    const { queue } = controller;
    const room = this.#roomOfByobRead;
    this.nativeController.enqueue(
      (room ? (queue as ByteQueue).take(Math.min(room, queue.totalSize)) : queue.dequeue()) as never,
    );
    controller.afterDequeue();
  }

  cancel(reason: unknown): Promise<void> {
    this.#ended = true;
    this.stream.disturbed = true;
    this.lockStream();
    return readableStreamCancel(this.stream, reason);
  }

  chunkSteps(chunk: unknown): void {
    this.#isWaiting = false;
    const room = this.#roomOfByobRead;
    if (!this.isWanted) {
      releaseReadableFeed(this.stream); // the native consumer was released during the read
      this.#keep(chunk);
    } else if (room && room < (chunk as Uint8Array).byteLength) {
      this.#keep(chunk);
      this.#giveBuffered();
    } else {
      this.nativeController.enqueue(chunk as never);
    }
  }

  /** Whether a native consumer still waits for the chunk of the pending read. */
  get isWanted(): boolean {
    return isNativeReadableStreamLocked(this.stream.nativeSide!);
  }

  /** The size of the native side's pending BYOB read. Further bytes would stay in the native queue, out of reach of readers. */
  get #roomOfByobRead(): number | undefined {
    return this.type &&
      (this.nativeController as globalThis.ReadableByteStreamController).byobRequest?.view?.byteLength;
  }

  /** Puts a chunk that no consumer needs back into the stream's queue, which is empty. */
  #keep(chunk: unknown): void {
    this.stream.controller.enqueueWithoutPull(chunk);
  }

  /** Ends the native side if the stream has ended. A read may end the stream before it delivers its chunk. */
  closeSteps(): void {
    const { state, storedError } = this.stream;
    if (state === "readable" || this.#ended || this.#isReading) return;
    this.#ended = true;
    const controller = this.nativeController as globalThis.ReadableByteStreamController;
    if (state === "errored") controller.error(storedError);
    else endBytes(controller);
  }

  /** Errors the native side if the stream has errored, not if the read failed because its reader was released. */
  errorSteps(): void {
    this.#isWaiting = false;
    this.closeSteps();
  }

  /** Returns the reader through which the native side reads the stream. */
  lockStream(): DefaultReaderState {
    const stream = this.stream;
    stream.feed = this;
    if (!stream.reader) readableStreamReaderGenericInitialize(new FeedReaderState(), stream);
    const { reader } = stream;
    if (reader instanceof DefaultReaderState && (reader.isPublic || reader instanceof FeedReaderState)) return reader;
    throw lockedError("read");
  }
}
inheritNothing(NativeReadableSource);

/** A reader that user code has no access to. */
export class UnseenReaderState extends DefaultReaderState {
  override readonly mostPullsAtOnce = 64;
}

/** The reader through which the native side locks the stream while a native consumer locks the native side. */
export class FeedReaderState extends UnseenReaderState {
  override lockNative(): undefined {}
}

/** Releases the feed's lock once the native side is not locked any longer. */
export function releaseReadableFeed(stream: ReadableStreamState): void {
  if (stream.reader instanceof FeedReaderState) readableStreamReaderRelease(stream.reader);
}

type StateOf = (stream: unknown) => ReadableStreamState | undefined;

/** Returns the state of a stream of this package; `undefined` for any other value. */
export let readableStreamStateOf: StateOf = (): undefined => {};

/** Called once, by the ReadableStream class, so that code that works on states need not import the class. */
export function setReadableStreamStateOf(stateOf: StateOf): void {
  readableStreamStateOf = stateOf;
}

/** The standard's IsReadableStreamLocked: by a reader, a pipe or the runtime, but not by the feed of the native side. */
export function isReadableStreamLocked(stream: ReadableStreamState): boolean {
  const { idleLock, nativeSide, reader, transferSide } = stream;
  return (reader !== undefined && !(reader instanceof FeedReaderState)) ||
    (nativeSide !== undefined && idleLock === undefined && isNativeReadableStreamLocked(nativeSide)) ||
    (transferSide !== undefined && isNativeReadableStreamLocked(transferSide));
}

/** Makes a stream ready to be locked. @throws {TypeError} if it is locked. */
export function checkReadableStreamFree(stream: ReadableStreamState, action: string): void {
  if (isReadableStreamLocked(stream)) throw lockedError(action);
  releaseIdleLock(stream);
  releaseReadableFeed(stream);
}

/** Makes a stream ready for a BYOB reader. @throws {TypeError} if it is locked or is no byte stream. */
export function checkByteStreamFree(stream: ReadableStreamState): void {
  checkReadableStreamFree(stream, "get a reader");
  if (!stream.controller.type) throw cannot("get a BYOB reader", 'the stream was not made with type: "bytes"');
}
