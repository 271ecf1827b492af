import { callbackResult } from "../promises.ts";
import { type Callback, toCallback, toDictionary } from "../webidl.ts";
import type { TransformerAlgorithms, TransformStreamState } from "./transform_state.ts";

/** A Transformer dictionary after conversion. */
export interface ConvertedTransformer {
  readonly cancel: Callback | undefined;
  readonly flush: Callback | undefined;
  readonly start: Callback | undefined;
  readonly transform: Callback | undefined;
}

const NO_TRANSFORMER: ConvertedTransformer = {
  cancel: undefined,
  flush: undefined,
  start: undefined,
  transform: undefined,
};

/**
 * Converts a Transformer dictionary, reading its members in the order of their names.
 *
 * @throws {RangeError} if it has a `readableType` or `writableType`: there are none yet.
 */
export function toTransformer(value: unknown): ConvertedTransformer {
  const transformer = toDictionary(value, "the transformer");
  if (transformer === undefined) return NO_TRANSFORMER;
  const cancel = toCallback(transformer.cancel, "the transformer's cancel");
  const flush = toCallback(transformer.flush, "the transformer's flush");
  const { readableType } = transformer;
  const start = toCallback(transformer.start, "the transformer's start");
  const transform = toCallback(transformer.transform, "the transformer's transform");
  const { writableType } = transformer;
  if (readableType !== undefined) {
    throw new RangeError("the transformer's readableType must be undefined: it is reserved");
  }
  if (writableType !== undefined) {
    throw new RangeError("the transformer's writableType must be undefined: it is reserved");
  }
  return { cancel, flush, start, transform };
}

/** The algorithms that a user's transformer gives. */
export class UserTransformerAlgorithms implements TransformerAlgorithms {
  readonly #state: TransformStreamState;
  readonly #transformer: unknown;
  readonly #controller: object;
  readonly #transform: Callback | undefined;
  readonly #flush: Callback | undefined;
  readonly #cancel: Callback | undefined;

  constructor(
    state: TransformStreamState,
    transformer: unknown,
    controller: object,
    { transform, flush, cancel }: ConvertedTransformer,
  ) {
    this.#state = state;
    this.#transformer = transformer;
    this.#controller = controller;
    this.#transform = transform;
    this.#flush = flush;
    this.#cancel = cancel;
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
