import { type BodyConsumer, type BodyControl, type Failure, ResponseBody } from "./response_body.ts";

/**
 * Makes two bodies of one. What one of them is given and the other has not taken yet waits there, without limit, as the
 * standard has it.
 *
 * @see {@link https://fetch.spec.whatwg.org/#concept-body-clone}
 */
export function teeBody(body: ResponseBody): [ResponseBody, ResponseBody] {
  const copy = body.copy();
  if (copy !== undefined) return [copy, body.copy()!];
  const tee = new BodyTee(body);
  return [tee.first.body, tee.second.body];
}

class BodyTee implements BodyConsumer {
  readonly #source: ResponseBody;
  readonly first: Branch;
  readonly second: Branch;
  #isWanted = false;
  #isRunning = false;

  constructor(source: ResponseBody) {
    this.#source = source;
    this.first = new Branch(this, source.isDecoded);
    this.second = new Branch(this, source.isDecoded);
    source.claim();
    source.watch(this);
    this.#run();
  }

  want(): void {
    this.#isWanted = true;
    this.#run();
  }

  cancel(reason: unknown): void {
    if (this.first.body.isOver && this.second.body.isOver) this.#source.cancel(reason);
  }

  get revoked(): Failure | undefined {
    return this.#source.revoked;
  }

  onReady(): void {
    this.#run();
  }

  /** Not within itself: both branches get a piece before one of them gets the next. */
  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const source = this.#source;
    while (this.#isWanted && source.available > 0) {
      this.#isWanted = false;
      const chunk = source.take()!;
      this.first.body.push(chunk);
      this.second.body.push(chunk);
    }
    this.#isRunning = false;
    if (source.failure !== undefined) this.#fail(source.failure.reason);
    else if (source.isDone) this.#end();
    else if (this.#isWanted) source.want(this);
  }

  #fail(reason: unknown): void {
    this.first.body.fail(reason);
    this.second.body.fail(reason);
  }

  #end(): void {
    this.first.body.end();
    this.second.body.end();
  }
}

class Branch implements BodyControl {
  readonly #tee: BodyTee;
  readonly body: ResponseBody = new ResponseBody(this);

  constructor(tee: BodyTee, isDecoded: boolean) {
    this.#tee = tee;
    this.body.isDecoded = isDecoded;
  }

  consumed(): void {
    // What is wanted next will be asked for.
  }

  cancel(reason: unknown): void {
    this.#tee.cancel(reason);
  }

  wanted(): void {
    this.#tee.want();
  }

  revoked(): Failure | undefined {
    return this.#tee.revoked;
  }
}
