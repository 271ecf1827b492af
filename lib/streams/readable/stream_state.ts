import type { ViewSlots } from "../language/array_buffers.ts";
import { releasedError } from "../language/errors.ts";
import {
  type EndedPromise,
  LazyPromise,
  NativePromise,
  noop,
  promiseRejectedWith,
  promiseResolvedWith,
  react,
} from "../language/promises.ts";
import { hasReadMany } from "#streams/host";
import {
  nativeGetReader,
  NativeReadableStreamBYOBReader,
  NativeReadableStreamDefaultReader,
} from "../language/native_classes.ts";
import {
  lockSide,
  type LockState,
  type NativeLock,
  readIdly,
  releaseIdleLock,
  releaseSide,
} from "../native/native_locks.ts";
import { Ring } from "../queuing/chunk_queue.ts";
import type { ByteControllerState } from "./byte_controller_state.ts";
import type { DefaultControllerState } from "./default_controller_state.ts";

/** The internal slots of a ReadableStream. @see {@link https://streams.spec.whatwg.org/#rs-internal-slots} */
export class ReadableStreamState {
  state: "readable" | "closed" | "errored" = "readable";
  disturbed = false;
  reader: DefaultReaderState | ByobReaderState | undefined;
  storedError: unknown;
  controller!: DefaultControllerState | ByteControllerState; // assigned by every set-up
  /** The public object, once there is one. */
  shell: object | undefined;
  /** The stream as the runtime handles it: the stream itself, or an object created when the runtime first needs it. */
  nativeSide: object | undefined;
  /** The feed of the native side; set by its first pull. */
  feed: StreamObserver | undefined;
  idleLock: NativeLock | undefined;
  transferSide: object | undefined;
  /** A promise that settles as the stream ends; undefined until a function of Node reads it. */
  ended: EndedPromise | undefined;
}

/** An observer of a stream's end. */
interface StreamObserver {
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/** Sets `[[disturbed]]`, also of the native side; if that is slow, only when the reader is released. */
export function disturb(stream: ReadableStreamState): void {
  if (stream.disturbed) return;
  stream.disturbed = true;
  const { nativeSide, reader, shell } = stream;
  if (nativeSide === undefined || nativeSide !== shell) return;
  if (reader === undefined) {
    readIdly(stream, nativeGetReader.call(nativeSide as globalThis.ReadableStream));
    releaseIdleLock(stream);
  } else if (!hasReadMany && reader.nativeSide !== undefined) {
    readIdly(stream, reader.nativeSide);
  }
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-cancel} */
export function readableStreamCancel(stream: ReadableStreamState, reason: unknown): Promise<void> {
  disturb(stream);
  if (stream.state === "closed") return promiseResolvedWith<void>(undefined);
  if (stream.state === "errored") return promiseRejectedWith(stream.storedError);
  readableStreamClose(stream);
  stream.reader?.streamCanceled();
  return react(stream.controller.cancelSteps(reason), () => {});
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-close} */
export function readableStreamClose(stream: ReadableStreamState): void {
  stream.state = "closed";
  stream.feed?.closeSteps(); // first, since `closed` settles before pending reads
  stream.reader?.streamClosed();
  stream.ended?.resolve();
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-error} */
export function readableStreamError(stream: ReadableStreamState, error: unknown): void {
  stream.state = "errored";
  stream.storedError = error;
  stream.feed?.errorSteps(error);
  stream.reader?.streamErrored(error);
  stream.ended?.reject(error);
}

/** A read request: waits for a chunk. @see {@link https://streams.spec.whatwg.org/#read-request} */
export interface ReadRequest {
  chunkSteps(chunk: unknown): void;
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/** A {@link https://streams.spec.whatwg.org/#read-into-request read-into request}: waits for its view to be filled. */
export interface ReadIntoRequest {
  chunkSteps(view: ArrayBufferView): void;
  closeSteps(view?: ArrayBufferView): void;
  errorSteps(error: unknown): void;
}

/** ReadableStreamReadResult, a name that only the DOM's types have. */
type Result = { done: false; value: unknown } | { done: true; value: unknown };

const PromiseConstructor = NativePromise;

/**
 * The request behind the promise that `read()` returns, for both readers. It does not inherit from Deferred, since V8
 * makes such objects faster.
 */
export class PromiseReadRequest implements ReadRequest, ReadIntoRequest {
  readonly promise: Promise<Result>;
  resolve: (result: Result) => void = noop;
  reject: (reason: unknown) => void = noop;
  constructor() {
    this.promise = new PromiseConstructor<Result>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
  chunkSteps(value: unknown): void {
    this.resolve({ done: false, value });
  }
  closeSteps(value?: unknown): void {
    this.resolve({ done: true, value } as Result);
  }
  errorSteps(error: unknown): void {
    this.reject(error);
  }
}

/** The promise of a `read()` that is served at once. An async function is the fastest way to make a fulfilled promise. */
// deno-lint-ignore require-await -- the promise is what is wanted
export async function servedRead(value: unknown): Promise<Result> {
  return { done: false, value };
}

/** The {@link https://streams.spec.whatwg.org/#readable-stream-generic-reader-mixin-internal-slots slots} of a reader. */
abstract class ReaderState<Request extends ReadRequest | ReadIntoRequest> implements LockState {
  stream: ReadableStreamState | undefined;
  protected closedPromise: LazyPromise | undefined;
  /** Whether user code has the reader, so that the runtime may read through it. */
  isPublic = false;
  nativeSide: LockState["nativeSide"];
  /** The maximum of consecutive pulls without a promise before other code gets a turn; 0 for public readers. */
  readonly mostPullsAtOnce: number = 0;
  requests: Ring<Request> = new Ring();

  /** The promise of the reader's end; made by the first access, with the outcome so far. */
  get closed(): LazyPromise {
    if (this.closedPromise === undefined) {
      this.closedPromise = new LazyPromise();
      const { stream } = this;
      if (stream === undefined) this.released();
      else if (stream.state === "closed") this.closedPromise.resolve();
      else if (stream.state === "errored") this.closedPromise.reject(stream.storedError);
    }
    return this.closedPromise;
  }

  streamErrored(error: unknown): void {
    this.closedPromise?.reject(error);
    this.errorRequests(error);
  }

  errorRequests(error: unknown): void {
    const { requests } = this;
    if (requests.length === 0) return;
    this.requests = new Ring();
    while (requests.length > 0) requests.shift().errorSteps(error);
  }

  closeRequests(): void {
    const { requests } = this;
    if (requests.length === 0) return;
    this.requests = new Ring();
    while (requests.length > 0) requests.shift().closeSteps();
  }

  abstract lockNative(side: object): LockState["nativeSide"];

  /** Detaches the promise from the stream, as the reader was released. */
  released(): void {
    this.closedPromise?.reject(releasedError("watch the stream", "reader"));
  }

  abstract streamClosed(): void;
  abstract streamCanceled(): void;
}

/** The internal slots of a ReadableStreamDefaultReader. */
export class DefaultReaderState extends ReaderState<ReadRequest> {
  streamClosed(): void {
    this.closedPromise?.resolve();
    this.closeRequests();
  }

  streamCanceled(): void {} // its requests were closed together with the stream

  lockNative(side: object): LockState["nativeSide"] {
    return new NativeReadableStreamDefaultReader(side as never);
  }
}

/** The internal slots of a ReadableStreamBYOBReader. */
export class ByobReaderState extends ReaderState<ReadIntoRequest> {
  streamClosed(): void {
    this.closed.resolve(); // its requests wait for their views, which the source still has
  }

  streamCanceled(): void {
    this.closeRequests();
  }

  lockNative(side: object): LockState["nativeSide"] {
    return new NativeReadableStreamBYOBReader(side as never);
  }
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-reader-generic-initialize} */
export function readableStreamReaderGenericInitialize(
  reader: DefaultReaderState | ByobReaderState,
  stream: ReadableStreamState,
): void {
  reader.stream = stream;
  stream.reader = reader;
  lockSide(reader);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-reader-generic-cancel} */
export function readableStreamReaderGenericCancel(
  reader: DefaultReaderState | ByobReaderState,
  reason: unknown,
): Promise<void> {
  if (reader.stream === undefined) return promiseRejectedWith(releasedError("cancel", "reader"));
  return readableStreamCancel(reader.stream, reason);
}

/**
 * The standard's ReadableStreamDefaultReaderRelease and ReadableStreamBYOBReaderRelease; has no effect if the reader
 * was released before.
 */
export function readableStreamReaderRelease(reader: DefaultReaderState | ByobReaderState): void {
  const { stream } = reader;
  if (stream === undefined) return;
  reader.released();
  stream.controller.releaseSteps();
  stream.reader = undefined;
  reader.stream = undefined;
  releaseSide(reader, stream, stream.disturbed && stream.state === "closed");
  if (reader.requests.length > 0) reader.errorRequests(releasedError("read", "reader"));
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-default-reader-read} */
export function readableStreamDefaultReaderRead(reader: DefaultReaderState, request: ReadRequest): void {
  const stream = reader.stream!;
  disturb(stream);
  if (stream.state === "closed") request.closeSteps();
  else if (stream.state === "errored") request.errorSteps(stream.storedError);
  else stream.controller.pullSteps(request);
}

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-byob-reader-read} */
export function readableStreamByobReaderRead(
  reader: ByobReaderState,
  slots: ViewSlots,
  min: number,
  request: ReadIntoRequest,
): void {
  const stream = reader.stream!;
  disturb(stream);
  if (stream.state === "errored") request.errorSteps(stream.storedError);
  else (stream.controller as ByteControllerState).pullInto(slots, min, request);
}

/** @see {@link https://streams.spec.whatwg.org/#acquire-readable-stream-reader} */
export function acquireReadableStreamDefaultReader(stream: ReadableStreamState): DefaultReaderState {
  const reader = new DefaultReaderState();
  readableStreamReaderGenericInitialize(reader, stream);
  return reader;
}

/** @see {@link https://streams.spec.whatwg.org/#acquire-readable-stream-byob-reader} */
export function acquireReadableStreamByobReader(stream: ReadableStreamState): ByobReaderState {
  const reader = new ByobReaderState();
  readableStreamReaderGenericInitialize(reader, stream);
  return reader;
}
