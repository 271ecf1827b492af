import { Deferred, queueReaction, react } from "../language/promises.ts";
import { deferTasks, runTasks } from "../shortcuts/task.ts";
import type { SourceAlgorithms } from "./controller_state.ts";
import { createReadableStream, type DefaultControllerState } from "./default_controller_state.ts";
import {
  acquireReadableStreamDefaultReader,
  type DefaultReaderState,
  readableStreamDefaultReaderRead,
  type ReadRequest,
} from "./stream_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "./stream_state.ts";

/** The base of both kinds of tee, and their read request, since at most one read is pending. */
export abstract class Tee {
  abstract readonly branches: readonly [TeeBranch, TeeBranch];
  readonly stream: ReadableStreamState;
  protected isReading = false;
  #chunk: unknown;
  readonly #cancelPromise = new Deferred<void>();

  constructor(stream: ReadableStreamState) {
    this.stream = stream;
  }

  abstract pull(branch: TeeBranch): void;
  protected abstract forward(chunk: unknown): void;

  chunkSteps(chunk: unknown): void {
    this.#chunk = chunk;
    queueReaction(this.#forward); // delayed as in the standard, so that errors overtake the chunk
  }

  readonly #forward = (): void => {
    const holds = deferTasks();
    const chunk = this.#chunk;
    this.#chunk = undefined;
    try {
      this.forward(chunk);
    } catch {
      // as in closeSteps() of a tee of bytes; in the standard, no caller could catch this error
    } finally {
      if (holds) runTasks();
    }
  };

  errorSteps(): void {
    this.isReading = false;
  }

  cancelBranch(branch: TeeBranch, reason: unknown): Promise<void> {
    branch.canceled = true;
    branch.reason = reason;
    const [first, second] = this.branches;
    if (first.canceled && second.canceled) this.cancelStream([first.reason, second.reason]);
    return this.#cancelPromise.promise;
  }

  cancelStream(reason: unknown): void {
    this.#cancelPromise.resolve(readableStreamCancel(this.stream, reason));
  }

  resolveCancelPromise(): void {
    const [first, second] = this.branches;
    if (!first.canceled || !second.canceled) this.#cancelPromise.resolve();
  }

  errorBranches(error: unknown): void {
    for (const { stream } of this.branches) stream.controller.error(error);
  }
}

/** The source of one of the two streams. */
export class TeeBranch implements SourceAlgorithms {
  readonly stream: ReadableStreamState;
  canceled = false;
  reason: unknown;
  readonly #tee: Tee;

  constructor(tee: Tee, makeStream: (source: SourceAlgorithms) => ReadableStreamState) {
    this.#tee = tee;
    this.stream = makeStream(this);
  }

  pull(): void {
    this.#tee.pull(this);
  }

  cancel(reason: unknown): Promise<void> {
    return this.#tee.cancelBranch(this, reason);
  }
}

/**
 * A reader for two branches.
 *
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablestreamdefaulttee}
 */
export class DefaultTee extends Tee implements ReadRequest {
  readonly branches: readonly [TeeBranch, TeeBranch];
  readonly #reader: DefaultReaderState;
  #readAgain = false;

  constructor(stream: ReadableStreamState) {
    super(stream);
    this.#reader = acquireReadableStreamDefaultReader(stream);
    const newBranch = (): TeeBranch => new TeeBranch(this, (source) => createReadableStream(source, 1));
    this.branches = [newBranch(), newBranch()];
    react(this.#reader.closed.promise, undefined, (error) => {
      this.errorBranches(error);
      this.resolveCancelPromise();
    });
  }

  pull(): void {
    if (this.isReading) {
      this.#readAgain = true;
      return;
    }
    this.isReading = true;
    readableStreamDefaultReaderRead(this.#reader, this);
  }

  protected forward(chunk: unknown): void {
    this.#readAgain = false;
    for (let i = 0; i < 2; i++) { // faster than destructuring or iteration
      const { canceled, stream } = this.branches[i];
      if (!canceled) (stream.controller as DefaultControllerState).enqueue(chunk);
    }
    this.isReading = false;
    if (this.#readAgain) this.pull();
  }

  closeSteps(): void {
    this.isReading = false;
    for (const { canceled, stream } of this.branches) {
      if (!canceled) stream.controller.close();
    }
    this.resolveCancelPromise();
  }
}
