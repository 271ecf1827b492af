import { outOfRange } from "../language/errors.ts";
import { callbackResult } from "../language/promises.ts";
import { releasesChunks } from "#streams/recycling";
import { type Callback, toCallback, toDictionary } from "../language/webidl.ts";
import type { TransformerAlgorithms, TransformStreamState } from "./transform_state.ts";

/**
 * A Transformer dictionary after conversion, with the algorithms that it gives.
 *
 * @see {@link https://streams.spec.whatwg.org/#dictdef-transformer}
 */
export class UserTransformerAlgorithms implements TransformerAlgorithms {
  readonly #state: TransformStreamState;
  readonly releasesChunks: boolean | undefined;
  readonly #transformer: unknown;
  #controller: object | undefined;
  #cancel: Callback | undefined;
  #flush: Callback | undefined;
  #start: Callback | undefined;
  #transform: Callback | undefined;

  /**
   * Reads the dictionary's members in the order of their names.
   *
   * @throws {RangeError} if it has a `readableType` or `writableType`: there are none yet.
   */
  constructor(state: TransformStreamState, value: unknown) {
    this.#state = state;
    this.#transformer = value;
    this.releasesChunks = releasesChunks(value);
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

  /** Calls start with the controller that the others will get. */
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
