import { callbackResult } from "../language/promises.ts";
import { recyclerOf, type RecyclingSource } from "#streams/recycling";
import { type Callback, toCallback, toDictionary, toUnsignedLongLong } from "../language/webidl.ts";
import type { SourceAlgorithms } from "./controller_state.ts";

/**
 * An UnderlyingSource dictionary after conversion, with the algorithms that it gives.
 *
 * @see {@link https://streams.spec.whatwg.org/#dictdef-underlyingsource}
 */
export class UnderlyingSourceAlgorithms implements SourceAlgorithms {
  autoAllocateChunkSize: number | undefined;
  /** "bytes" for a byte stream; any other is not the standard's. */
  type: string | undefined;
  readonly #source: unknown;
  #controller: object | undefined;
  #start: Callback | undefined;
  #pull: Callback | undefined;
  #cancel: Callback | undefined;

  /** Reads the dictionary's members in the order of their names. */
  constructor(value: unknown) {
    this.#source = value;
    const source = toDictionary(value, "the underlying source");
    const size = source.autoAllocateChunkSize;
    if (size !== undefined) this.autoAllocateChunkSize = toUnsignedLongLong(size, "autoAllocateChunkSize");
    this.#cancel = toCallback(source.cancel, "the underlying source's cancel");
    this.#pull = toCallback(source.pull, "the underlying source's pull");
    this.#start = toCallback(source.start, "the underlying source's start");
    const { type } = source;
    if (type !== undefined) this.type = `${type}`;
  }

  get recycler(): RecyclingSource | undefined {
    return recyclerOf(this.#source);
  }

  /** Whether there is no underlying source, so that only the stream's maker can close it. */
  get isNone(): boolean {
    return this.#source === undefined;
  }

  /** Calls start with the controller that the others will get. */
  callStart(controller: object): unknown {
    this.#controller = controller;
    return this.#start?.call(this.#source, controller);
  }

  pull(): unknown {
    return this.#pull?.call(this.#source, this.#controller);
  }

  cancel(reason: unknown): unknown {
    return callbackResult(this.#cancel?.call(this.#source, reason));
  }
}
