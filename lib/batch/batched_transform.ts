import { Deferred, ReadableStream } from "../streams/internal.ts";
import type { ReadableStreamDefaultController, WritableStreamDefaultController } from "../streams/mod.ts";
import { type BatchedUnderlyingSink, BatchedWritableStream } from "./batched_writable_stream.ts";

/** Transforms a batch: calls `enqueue` for every chunk of output. An exception errors both ends. */
export type TransformBatch<I, O> = (batch: I[], enqueue: (chunk: O) => void) => void;

interface BatchedTransformOptions<O> extends Pick<BatchedUnderlyingSink, "maxDelay" | "minBatch"> {
  /** Called after the last batch to enqueue final output, unless the stream has failed. Must not throw. */
  readonly atEnd?: (enqueue: (chunk: O) => void) => void;
}

export interface BatchedTransform<I, O> {
  readonly readable: ReadableStream<O>;
  readonly writable: BatchedWritableStream<I>;
}

/** Creates a transform of batches, each taken once the readable end has room. `strategy.size()` must not throw. */
export function batchedTransform<I, O>(
  transform: TransformBatch<I, O>,
  strategy: QueuingStrategy<I>,
  options: BatchedTransformOptions<O> = {},
): BatchedTransform<I, O> {
  const ends = new Ends(transform, options);
  const readable = new ReadableStream<O>({
    start: (controller) => ends.setOutput(controller),
    pull: () => ends.want(),
    cancel: (reason) => ends.cancel(reason),
  });
  return { readable, writable: new BatchedWritableStream<I>(ends, strategy) };
}

/** The sink of the writable end, which knows the demand of the readable end. */
class Ends<I, O> {
  readonly #transform: TransformBatch<I, O>;
  readonly #atEnd: BatchedTransformOptions<O>["atEnd"];
  #output: ReadableStreamDefaultController<O> = undefined as never; // both are assigned by start()
  #input: WritableStreamDefaultController = undefined as never;
  /** Whether the readable end has pulled since its last output. */
  #isWanted = false;
  /** The promise that delays a batch until output is pulled or the readable end is cancelled. */
  #wanted: Deferred<void> | undefined = undefined;
  #failure: { readonly reason: unknown } | undefined = undefined;

  readonly maxDelay: number | undefined;
  readonly minBatch: number | undefined;

  constructor(transform: TransformBatch<I, O>, { maxDelay, minBatch, atEnd }: BatchedTransformOptions<O>) {
    this.maxDelay = maxDelay;
    this.minBatch = minBatch;
    this.#atEnd = atEnd;
    this.#transform = transform;
  }

  setOutput(controller: ReadableStreamDefaultController<O>): void {
    this.#output = controller;
  }

  start(controller: WritableStreamDefaultController): void {
    this.#input = controller;
    const { signal } = controller;
    signal.addEventListener("abort", () => {
      if (this.#fail(signal.reason)) this.#output.error(signal.reason);
    });
  }

  writev(batch: I[]): Promise<void> | undefined {
    if (this.#isWanted) return this.#write(batch);
    this.#wanted = new Deferred();
    return this.#wanted.promise.then(() => this.#write(batch));
  }

  close(): void {
    if (this.#failure !== undefined) return;
    this.#atEnd?.(this.#enqueue);
    this.#output.close();
  }

  want(): void {
    this.#isWanted = true;
    this.#wanted?.resolve();
    this.#wanted = undefined;
  }

  cancel(reason: unknown): void {
    if (this.#fail(reason)) this.#input.error(reason);
  }

  #write(batch: I[]): undefined {
    if (this.#failure !== undefined) throw this.#failure.reason; // no reader is left for the output
    try {
      this.#transform(batch, this.#enqueue);
    } catch (error) {
      if (this.#fail(error)) this.#output.error(error);
      throw error;
    }
  }

  readonly #enqueue = (chunk: O): void => {
    this.#isWanted = false; // the stream pulls again if it has more room
    this.#output.enqueue(chunk);
  };

  /** Records the failure, and resumes a delayed batch; returns whether it is the first failure. */
  #fail(reason: unknown): boolean {
    if (this.#failure !== undefined) return false;
    this.#failure = { reason };
    this.want();
    return true;
  }
}
