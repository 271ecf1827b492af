import { Deferred, queueReaction, react } from "../promises.ts";
import { ByteControllerState } from "./byte_controller_state.ts";
import { readableByteStreamTee } from "./byte_tee.ts";
import {
  createReadableStream,
  type DefaultControllerState,
  readableStreamDefaultControllerClose,
  readableStreamDefaultControllerEnqueue,
  readableStreamDefaultControllerError,
  type SourceAlgorithms,
} from "./default_controller_state.ts";
import { holdTasks, releaseTasks } from "../scheduler.ts";
import type { ReadRequest } from "./read_requests.ts";
import {
  acquireReadableStreamDefaultReader,
  type DefaultReaderState,
  readableStreamDefaultReaderRead,
} from "./reader_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "./stream_state.ts";

/** @see {@link https://streams.spec.whatwg.org/#readable-stream-tee} */
export function readableStreamTee(stream: ReadableStreamState): [ReadableStreamState, ReadableStreamState] {
  if (stream.controller instanceof ByteControllerState) return readableByteStreamTee(stream);
  return new DefaultTee(stream).branches;
}

/**
 * One reader for two branches; it is its own read request, as only one read is ever under way.
 *
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablestreamdefaulttee}
 */
class DefaultTee implements ReadRequest {
  readonly branches: [ReadableStreamState, ReadableStreamState];
  readonly #stream: ReadableStreamState;
  readonly #reader: DefaultReaderState;
  readonly #sources: readonly [TeeBranchSource, TeeBranchSource];
  readonly #cancelPromise = new Deferred<void>();
  #reading = false;
  #readAgain = false;
  #chunk: unknown = undefined;

  constructor(stream: ReadableStreamState) {
    this.#stream = stream;
    this.#reader = acquireReadableStreamDefaultReader(stream);
    this.#sources = [new TeeBranchSource(this), new TeeBranchSource(this)];
    this.branches = [createReadableStream(this.#sources[0], 1), createReadableStream(this.#sources[1], 1)];
    react(this.#reader.closed.promise, undefined, (error) => {
      for (const branch of this.branches) {
        readableStreamDefaultControllerError(branch.controller as DefaultControllerState, error);
      }
      this.#resolveCancelPromise();
    });
  }

  pull(): void {
    if (this.#reading) {
      this.#readAgain = true;
      return;
    }
    this.#reading = true;
    readableStreamDefaultReaderRead(this.#reader, this);
  }

  cancelBranch(source: TeeBranchSource, reason: unknown): Promise<void> {
    source.canceled = true;
    source.reason = reason;
    const [first, second] = this.#sources;
    if (first.canceled && second.canceled) {
      this.#cancelPromise.resolve(readableStreamCancel(this.#stream, [first.reason, second.reason]));
    }
    return this.#cancelPromise.promise;
  }

  chunkSteps(chunk: unknown): void {
    this.#chunk = chunk;
    queueReaction(this.#forward); // the standard delays this, so that errors overtake the chunk
  }

  readonly #forward = (): void => {
    const holds = holdTasks();
    try {
      this.#forwardChunk();
    } finally {
      if (holds) releaseTasks();
    }
  };

  #forwardChunk(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    this.#readAgain = false;
    for (let i = 0; i < 2; i++) {
      if (this.#sources[i].canceled) continue;
      readableStreamDefaultControllerEnqueue(this.branches[i].controller as DefaultControllerState, chunk);
    }
    this.#reading = false;
    if (this.#readAgain) this.pull();
  }

  closeSteps(): void {
    this.#reading = false;
    for (let i = 0; i < 2; i++) {
      if (this.#sources[i].canceled) continue;
      readableStreamDefaultControllerClose(this.branches[i].controller as DefaultControllerState);
    }
    this.#resolveCancelPromise();
  }

  errorSteps(): void {
    this.#reading = false;
  }

  #resolveCancelPromise(): void {
    const [first, second] = this.#sources;
    if (!first.canceled || !second.canceled) this.#cancelPromise.resolve();
  }
}

class TeeBranchSource implements SourceAlgorithms {
  canceled = false;
  reason: unknown = undefined;
  readonly #tee: DefaultTee;

  constructor(tee: DefaultTee) {
    this.#tee = tee;
  }

  pull(): void {
    this.#tee.pull();
  }

  cancel(reason: unknown): Promise<void> {
    return this.#tee.cancelBranch(this, reason);
  }
}
