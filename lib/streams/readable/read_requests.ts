import { Deferred } from "../promises.ts";

/**
 * What waits for a chunk.
 *
 * @see {@link https://streams.spec.whatwg.org/#read-request}
 */
export interface ReadRequest {
  chunkSteps(chunk: unknown): void;
  closeSteps(): void;
  errorSteps(error: unknown): void;
}

/**
 * What waits for a view of its own to be filled.
 *
 * @see {@link https://streams.spec.whatwg.org/#read-into-request}
 */
export interface ReadIntoRequest {
  chunkSteps(view: ArrayBufferView): void;
  closeSteps(view: ArrayBufferView | undefined): void;
  errorSteps(error: unknown): void;
}

/** The request behind the promise that `read()` returns, of either reader. */
export class PromiseReadRequest extends Deferred<ReadableStreamReadResult<unknown>>
  implements ReadRequest, ReadIntoRequest {
  chunkSteps(value: unknown): void {
    this.resolve({ done: false, value });
  }
  closeSteps(value?: unknown): void {
    this.resolve({ done: true, value } as ReadableStreamReadResult<unknown>);
  }
  errorSteps(error: unknown): void {
    this.reject(error);
  }
}
