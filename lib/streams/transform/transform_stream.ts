import { hasReadMany, isAlwaysEager } from "#streams/host";
import { makeNativeSideLazily, staysLazy, withEndsOf } from "#streams/lazy_side";
import {
  isNativeReadableStream,
  NativeTransformStream,
  replaceGlobal,
  restoreGlobal,
} from "../language/native_classes.ts";
import { TransformFeed } from "../native/feeds/transform_feed.ts";
import { Deferred, isThenableLike, newPromiseResolvedWith, queueReaction, react } from "../language/promises.ts";
import { DefaultControllerState } from "../readable/default_controller_state.ts";
import { ReadableStream } from "../readable/readable_stream.ts";
import { ReadableStreamState } from "../readable/stream_state.ts";
import { construct, defineInterface, isObject, passState, toObject } from "../language/webidl.ts";
import {
  type ConvertedStrategy,
  extractHighWaterMark,
  extractSizeAlgorithm,
  type SizeAlgorithm,
  toStrategy,
} from "../queuing/chunk_queue.ts";
import { createWritableStream, writableStreamDefaultControllerStartFailed } from "../writable/controller_state.ts";
import { WritableStream } from "../writable/writable_stream.ts";
import { TransformStreamDefaultController } from "./default_controller.ts";
import { type TransformerAlgorithms, TransformStreamState } from "./transform_state.ts";
import { type Transformer, UserTransformerAlgorithms } from "./transformer.ts";

replaceGlobal("TransformStream", NativeTransformStream);
/** Whether the native side of a stream is made on demand, when the runtime looks for it. */
let isLazy = makeNativeSideLazily(NativeTransformStream, (stream) => {
  const state = stateOf(stream);
  return state && (state.nativeSide ??= withEndsOf(stream as ReadableWritablePair, new NativeTransformStream()));
});
let stateOf: (stream: object) => TransformStreamState | undefined;

/**
 * A pair of streams: chunks written to the writable one are transformed, and read from the readable one.
 *
 * @see {@link https://streams.spec.whatwg.org/#ts-class}
 * @example One chunk for each
 * ```ts
 * import { ReadableStream, TransformStream } from "@millrace/streams/streams";
 *
 * const double = new TransformStream<number, number>({
 *   transform: (number, controller) => controller.enqueue(number * 2),
 * });
 * for await (const number of ReadableStream.from([1, 2, 3]).pipeThrough(double)) console.log(number); // 2, 4, 6
 * ```
 */
// deno-lint-ignore no-explicit-any -- as in the platform's own types, chunks have any type by default
export class TransformStream<I = any, O = any> extends globalThis.TransformStream<I, O> {
  readonly #state: TransformStreamState;

  /**
   * Creates a stream with a transformer.
   *
   * @param transformer the transformer of chunks; without a `transform` they pass unchanged.
   * @param writableStrategy the size of chunks, and the limit of those that wait to be transformed; by default one
   * chunk.
   * @param readableStrategy the size of chunks, and the limit of those transformed ahead of reads; by default none.
   * @throws {TypeError} if an argument or a member is of the wrong type.
   * @throws {RangeError} if a high-water mark is negative or NaN, or the transformer has a type.
   */
  constructor(
    transformer: Transformer<I, O> | undefined = undefined,
    writableStrategy: QueuingStrategy<I> | undefined = undefined,
    readableStrategy: QueuingStrategy<O> | undefined = undefined,
  ) {
    const state = new TransformStreamState();
    const isEager = isAlwaysEager || !(isLazy || hasReadMany);
    super(isEager ? new TransformFeed(state) as globalThis.Transformer<I, O> : undefined);
    this.#state = state;
    if (transformer !== undefined) toObject(transformer, "the transformer");
    setUpFromTransformer(state, transformer, toStrategy(writableStrategy), toStrategy(readableStrategy));
    if (isEager && isNativeReadableStream(super.readable)) { // a polyfill's streams are not native
      state.readable.transferSide = super.readable;
      state.writable.transferSide = super.writable;
    }
  }

  /** The readable end, with the transformed chunks. */
  override get readable(): ReadableStream<O> {
    if (!isObject(this) || !(#state in this)) return super.readable as ReadableStream<O>;
    const { readable } = this.#state;
    return (readable.shell ?? construct(ReadableStream<O>, readable)) as ReadableStream<O>;
  }

  /** The writable end, for the chunks to transform. */
  override get writable(): WritableStream<I> {
    if (!isObject(this) || !(#state in this)) return super.writable as WritableStream<I>;
    const { writable } = this.#state;
    return (writable.shell ?? construct(WritableStream<I>, writable)) as WritableStream<I>;
  }

  static {
    stateOf = (stream) => #state in stream ? stream.#state : undefined;
  }
}
defineInterface(TransformStream, "TransformStream");
restoreGlobal();
isLazy &&= staysLazy(TransformStream);
function setUpFromTransformer(
  state: TransformStreamState,
  transformer: unknown,
  writableStrategy: ConvertedStrategy,
  readableStrategy: ConvertedStrategy,
): void {
  const algorithms = new UserTransformerAlgorithms(state, transformer);
  state.transformer = algorithms;
  const readableHighWaterMark = extractHighWaterMark(readableStrategy, 0);
  const readableSize = extractSizeAlgorithm(readableStrategy);
  const writableHighWaterMark = extractHighWaterMark(writableStrategy, 1);
  state.writable = createWritableStream(state, writableHighWaterMark, extractSizeAlgorithm(writableStrategy));
  state.readable = createReadableEnd(state, readableHighWaterMark, readableSize);
  passState(state);
  startTransformStream(state, algorithms.callStart(new TransformStreamDefaultController()));
}

function createReadableEnd(state: TransformStreamState, mark: number, size: SizeAlgorithm): ReadableStreamState {
  const readable = new ReadableStreamState();
  readable.controller = new DefaultControllerState(readable, state, mark, size);
  return readable;
}

/** {@link https://streams.spec.whatwg.org/#transformstream-set-up Sets up} an internal transformer, with default high-water marks. */
export function createTransformStream(
  transformerOf: (state: TransformStreamState) => TransformerAlgorithms,
): TransformStreamState {
  const state = new TransformStreamState();
  state.transformer = transformerOf(state);
  state.writable = createWritableStream(state, 1, undefined);
  state.readable = createReadableEnd(state, 0, undefined);
  startTransformStream(state, undefined);
  return state;
}

/** Starts both ends three microtasks after the transformer's start has settled, as the standard's promises do. */
function startTransformStream(state: TransformStreamState, startResult: unknown): void {
  const { controller } = state.writable;
  const onStarted = (): void => {
    controller.resume();
    state.readableController.resume();
  };
  if (!isThenableLike(startResult)) {
    let microtasks = 3;
    const step = (): void => {
      if (--microtasks === 0) onStarted();
      else queueReaction(step);
    };
    queueReaction(step);
    return;
  }
  const start = new Deferred<unknown>();
  react(newPromiseResolvedWith(start.promise), onStarted, (error) => {
    writableStreamDefaultControllerStartFailed(controller, error);
    state.readableController.onPullFailed(error);
  });
  start.resolve(startResult);
}
