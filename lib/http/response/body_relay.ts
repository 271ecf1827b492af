import { type BodyConsumer, type BodyControl, type Failure, ResponseBody } from "./response_body.ts";

/** A relay from one body to another, driven by demand: it takes from `source` when a consumer wants bytes of `body`. */
export abstract class BodyRelay implements BodyConsumer, BodyControl {
  /** The body it takes bytes from. */
  protected readonly source: ResponseBody;
  /** The body it gives bytes to. */
  readonly body: ResponseBody = new ResponseBody(this);
  #isWanted = false;
  #isRunning = false;
  #isCalled = false;

  /** @param source The body that is taken; nobody else reads it. */
  constructor(source: ResponseBody) {
    this.source = source;
    this.body.isDecoded = source.isDecoded;
    source.claim();
    source.watch(this);
  }

  consumed(): void {
    // What is wanted next will be asked for.
  }

  cancel(reason: unknown): void {
    this.release();
    this.source.cancel(reason);
  }

  wanted(): void {
    this.#isWanted = true;
    this.run();
  }

  revoked(): Failure | undefined {
    return this.source.revoked;
  }

  onReady(): void {
    this.run();
  }

  /** Runs steps until there is no demand, no input, or the body is over. */
  protected run(): void {
    const { body, source } = this;
    const failure = source.failure ?? source.revoked;
    if (failure !== undefined) this.fail(failure.reason);
    this.#isCalled = true;
    // What is given makes its reader want more, and what is asked of another relay may come, before we are back.
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isCalled) {
      this.#isCalled = false;
      while (this.#isWanted && !body.isOver && this.step()) {
        // step() does the work
      }
    }
    this.#isRunning = false;
  }

  /** Pushes a chunk to the body, which ends its demand. */
  protected give(chunk: Uint8Array): void {
    this.#isWanted = false;
    this.body.push(chunk);
  }

  /** Ends with an error, and lets go of the source. */
  protected fail(error: unknown): void {
    this.release();
    this.source.cancel(error);
    this.body.fail(error);
  }

  /**
   * Goes one step further: takes something, gives something, or ends. Never throws.
   *
   * @returns false if there is nothing to do now: the source was asked for more, or `run()` will be called.
   */
  protected abstract step(): boolean;

  /** Frees what it holds. May be called more than once. */
  protected abstract release(): void;
}
