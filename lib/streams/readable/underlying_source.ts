import { callbackResult } from "../promises.ts";
import { type Callback, toCallback, toDictionary, toUnsignedLongLong } from "../webidl.ts";
import type { SourceAlgorithms } from "./default_controller_state.ts";

/** An UnderlyingSource dictionary after conversion. */
export interface ConvertedSource {
  readonly autoAllocateChunkSize: number | undefined;
  readonly cancel: Callback | undefined;
  readonly pull: Callback | undefined;
  readonly start: Callback | undefined;
  readonly type: "bytes" | undefined;
}

const NO_SOURCE: ConvertedSource = {
  autoAllocateChunkSize: undefined,
  cancel: undefined,
  pull: undefined,
  start: undefined,
  type: undefined,
};

/** Converts an UnderlyingSource dictionary, reading its members in the order of their names. */
export function toUnderlyingSource(value: unknown): ConvertedSource {
  const source = toDictionary(value, "the underlying source");
  if (source === undefined) return NO_SOURCE;
  const size = source.autoAllocateChunkSize;
  const autoAllocateChunkSize = size === undefined ? undefined : toUnsignedLongLong(size, "autoAllocateChunkSize");
  const cancel = toCallback(source.cancel, "the underlying source's cancel");
  const pull = toCallback(source.pull, "the underlying source's pull");
  const start = toCallback(source.start, "the underlying source's start");
  const { type } = source;
  if (type !== undefined && `${type}` !== "bytes") {
    throw new TypeError(`the underlying source's type must be "bytes" or undefined, not "${type}"`);
  }
  return { autoAllocateChunkSize, cancel, pull, start, type: type === undefined ? undefined : "bytes" };
}

/** The algorithms that a user's underlying source gives. */
export class UnderlyingSourceAlgorithms implements SourceAlgorithms {
  readonly #source: unknown;
  readonly #controller: object;
  readonly #pull: Callback | undefined;
  readonly #cancel: Callback | undefined;

  constructor(source: unknown, controller: object, { pull, cancel }: ConvertedSource) {
    this.#source = source;
    this.#controller = controller;
    this.#pull = pull;
    this.#cancel = cancel;
  }

  pull(): unknown {
    return this.#pull?.call(this.#source, this.#controller);
  }

  cancel(reason: unknown): unknown {
    return callbackResult(this.#cancel?.call(this.#source, reason));
  }
}
