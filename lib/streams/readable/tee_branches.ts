import { Deferred } from "../language/promises.ts";
import type { SourceAlgorithms } from "./controller_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "./stream_state.ts";

/** The base of both kinds of tee: how they end or are canceled, and nothing that is done for each chunk. */
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
