import { noop } from "../language/promises.ts";

/**
 * A read request: waits for a chunk.
 *
 * @see {@link https://streams.spec.whatwg.org/#read-request}
 */
export interface ReadRequest {
  chunkSteps(chunk: unknown): void;
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/**
 * A read-into request: waits for a view of its own to be filled.
 *
 * @see {@link https://streams.spec.whatwg.org/#read-into-request}
 */
export interface ReadIntoRequest {
  chunkSteps(view: ArrayBufferView): void;
  closeSteps(view?: ArrayBufferView): void;
  errorSteps(error: unknown): void;
}

/** ReadableStreamReadResult, which only the types of the DOM name. */
type Result = { done: false; value: unknown } | { done: true; value: unknown };

const PromiseConstructor = Promise;

/** The request behind the promise that `read()` returns, of either reader. It is a Deferred, but not by inheritance: V8 makes these faster. */
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
