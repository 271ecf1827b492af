import { outOfRange } from "../language/errors.ts";
import { callbackResult } from "../language/promises.ts";
import { type Callback, toCallback, toDictionary } from "../language/webidl.ts";
import type { TransformStreamDefaultController } from "./default_controller.ts";
import type { TransformerAlgorithms, TransformStreamState } from "./transform_state.ts";

/**
 * A transformer: turns the chunks written to a stream into the chunks read from it.
 *
 * @see {@link https://streams.spec.whatwg.org/#transformer-api}
 * @example A transform with a last word
 * ```ts
 * import { ReadableStream, type Transformer, TransformStream } from "@millrace/streams/streams";
 *
 * function total(): Transformer<number, number> {
 *   let sum = 0;
 *   return {
 *     transform: (number) => void (sum += number),
 *     flush: (controller) => controller.enqueue(sum),
 *   };
 * }
 * const sums = ReadableStream.from([1, 2, 3]).pipeThrough(new TransformStream(total()));
 * for await (const sum of sums) console.log(sum); // 6
 * ```
 */
export interface Transformer<I = unknown, O = unknown> {
  /** Called when the readable end is cancelled or the writable one aborted. */
  cancel?: (reason: unknown) => void | PromiseLike<void>;
  /** Called when all chunks are transformed, before the readable end closes: may enqueue final chunks. */
  flush?: (controller: TransformStreamDefaultController<O>) => void | PromiseLike<void>;
  /** Must be undefined: the standard reserves the name. */
  readableType?: undefined;
  /** Called when the stream is created. Transforming starts once the promise that it returns has settled. */
  start?: (controller: TransformStreamDefaultController<O>) => unknown;
  /** Called with each chunk, and with the next one once the returned promise has settled. Default: chunks pass unchanged. */
  transform?: (chunk: I, controller: TransformStreamDefaultController<O>) => void | PromiseLike<void>;
  /** Must be undefined: the standard reserves the name. */
  writableType?: undefined;
}

/** A converted {@link https://streams.spec.whatwg.org/#dictdef-transformer Transformer} with its algorithms. */
export class UserTransformerAlgorithms implements TransformerAlgorithms {
  readonly #state: TransformStreamState;
  readonly #transformer: unknown;
  #controller: object | undefined;
  #cancel: Callback | undefined;
  #flush: Callback | undefined;
  #start: Callback | undefined;
  #transform: Callback | undefined;

  /** Reads the members in the order of names; throws a RangeError for a `readableType` or `writableType`. */
  constructor(state: TransformStreamState, value: unknown) {
    this.#state = state;
    this.#transformer = value;
    const transformer = toDictionary(value, "the transformer");
    this.#cancel = toCallback(transformer.cancel, "the transformer's cancel");
    this.#flush = toCallback(transformer.flush, "the transformer's flush");
    const { readableType } = transformer;
    this.#start = toCallback(transformer.start, "the transformer's start");
    this.#transform = toCallback(transformer.transform, "the transformer's transform");
    const { writableType } = transformer;
    if (readableType !== undefined) throw outOfRange("the transformer's readableType is reserved: leave it out");
    if (writableType !== undefined) throw outOfRange("the transformer's writableType is reserved: leave it out");
  }

  /** Calls start with the controller that the other algorithms will get. */
  callStart(controller: object): unknown {
    this.#controller = controller;
    return this.#start?.call(this.#transformer, controller);
  }

  transform(chunk: unknown): unknown {
    if (this.#transform === undefined) return this.#state.enqueue(chunk); // the identity transform
    return this.#transform.call(this.#transformer, chunk, this.#controller);
  }

  flush(): unknown {
    return callbackResult(this.#flush?.call(this.#transformer, this.#controller));
  }

  cancel(reason: unknown): unknown {
    return callbackResult(this.#cancel?.call(this.#transformer, reason));
  }
}
