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

/** The base of both kinds of tee: their ends and cancellations, without the steps for chunks. */
export abstract class Tee {
  abstract readonly branches: readonly [TeeBranch, TeeBranch];
  readonly stream: ReadableStreamState;
  readonly #cancelPromise = new Deferred<void>();

  constructor(stream: ReadableStreamState) {
    this.stream = stream;
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
export abstract class TeeBranch implements SourceAlgorithms {
  abstract readonly stream: ReadableStreamState;
  canceled = false;
  reason: unknown;
  readonly #tee: Tee;

  constructor(tee: Tee) {
    this.#tee = tee;
  }

  abstract pull(): void;

  cancel(reason: unknown): Promise<void> {
    return this.#tee.cancelBranch(this, reason);
  }
}

/**
 * A reader for two branches, and its own read request, since at most one read is pending.
 * @see {@link https://streams.spec.whatwg.org/#abstract-opdef-readablestreamdefaulttee}
 */
export class DefaultTee extends Tee implements ReadRequest {
  readonly branches: readonly [DefaultTeeBranch, DefaultTeeBranch];
  readonly #reader: DefaultReaderState;
  #reading = false;
  #readAgain = false;
  #chunk: unknown;

  constructor(stream: ReadableStreamState) {
    super(stream);
    this.#reader = acquireReadableStreamDefaultReader(stream);
    this.branches = [new DefaultTeeBranch(this), new DefaultTeeBranch(this)];
    react(this.#reader.closed.promise, undefined, (error) => {
      this.errorBranches(error);
      this.resolveCancelPromise();
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

  chunkSteps(chunk: unknown): void {
    this.#chunk = chunk;
    queueReaction(this.#forward); // delayed as in the standard, so that errors overtake the chunk
  }

  readonly #forward = (): void => {
    const holds = deferTasks();
    try {
      this.#forwardChunk();
    } finally {
      if (holds) runTasks();
    }
  };

  #forwardChunk(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    this.#readAgain = false;
    for (let i = 0; i < 2; i++) { // faster than destructuring or iteration
      const { canceled, stream } = this.branches[i];
      if (!canceled) (stream.controller as DefaultControllerState).enqueue(chunk);
    }
    this.#reading = false;
    if (this.#readAgain) this.pull();
  }

  closeSteps(): void {
    this.#reading = false;
    for (const { canceled, stream } of this.branches) {
      if (!canceled) stream.controller.close();
    }
    this.resolveCancelPromise();
  }

  errorSteps(): void {
    this.#reading = false;
  }
}

class DefaultTeeBranch extends TeeBranch {
  readonly stream: ReadableStreamState;
  readonly #tee: DefaultTee;

  constructor(tee: DefaultTee) {
    super(tee);
    this.#tee = tee;
    this.stream = createReadableStream(this, 1);
  }

  pull(): void {
    this.#tee.pull();
  }
}
