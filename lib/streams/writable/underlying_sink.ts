import { callbackResult } from "../promises.ts";
import { type Callback, toCallback, toDictionary } from "../webidl.ts";
import type { SinkAlgorithms } from "./controller_state.ts";

/** An UnderlyingSink dictionary after conversion. */
export interface ConvertedSink {
  readonly abort: Callback | undefined;
  readonly close: Callback | undefined;
  readonly start: Callback | undefined;
  readonly write: Callback | undefined;
}

const NO_SINK: ConvertedSink = { abort: undefined, close: undefined, start: undefined, write: undefined };

/**
 * Converts an UnderlyingSink dictionary, reading its members in the order of their names.
 *
 * @throws {RangeError} if it has a `type`: there are no types of sinks yet.
 */
export function toUnderlyingSink(value: unknown): ConvertedSink {
  const sink = toDictionary(value, "the underlying sink");
  if (sink === undefined) return NO_SINK;
  const abort = toCallback(sink.abort, "the underlying sink's abort");
  const close = toCallback(sink.close, "the underlying sink's close");
  const start = toCallback(sink.start, "the underlying sink's start");
  const { type } = sink;
  const write = toCallback(sink.write, "the underlying sink's write");
  if (type !== undefined) throw new RangeError("the underlying sink's type must be undefined: the name is reserved");
  return { abort, close, start, write };
}

/** The algorithms that a user's underlying sink gives. */
export class UnderlyingSinkAlgorithms implements SinkAlgorithms {
  readonly #sink: unknown;
  readonly #controller: object;
  readonly #write: Callback | undefined;
  readonly #close: Callback | undefined;
  readonly #abort: Callback | undefined;

  constructor(sink: unknown, controller: object, { write, close, abort }: ConvertedSink) {
    this.#sink = sink;
    this.#controller = controller;
    this.#write = write;
    this.#close = close;
    this.#abort = abort;
  }

  write(chunk: unknown): unknown {
    return this.#write?.call(this.#sink, chunk, this.#controller);
  }

  pipeWrite(chunk: unknown): unknown {
    return this.#write?.call(this.#sink, chunk, this.#controller);
  }

  close(): unknown {
    return callbackResult(this.#close?.call(this.#sink));
  }

  abort(reason: unknown): unknown {
    return callbackResult(this.#abort?.call(this.#sink, reason));
  }
}
