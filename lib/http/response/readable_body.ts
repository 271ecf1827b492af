import type { ReadableStream } from "../../streams/mod.ts";
import { freshBytes } from "../fresh_bytes.ts";
import { watchResponse, watchStream } from "./abandoned.ts";
import { teeBody } from "./body_tee.ts";
import type { BodyConsumer, ResponseBody } from "./response_body.ts";
import { readWhole, type WholeKind } from "./whole_body.ts";

/** The most bytes that a runtime gets at a time. */
const MOST = 64 * 1024;

/** Under which streams, the runtimes' and ours, tell whether they were read or cancelled. */
const DISTURBED = Symbol.for("nodejs.stream.disturbed");

/**
 * A body as a response has it: read as a whole, as a stream, or by the runtime itself, and by one of them only.
 *
 * @see {@link https://fetch.spec.whatwg.org/#body-mixin}
 */
export class ReadableBody {
  #body: ResponseBody;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined = undefined;

  /** @param body The body to read. */
  constructor(body: ResponseBody) {
    this.#body = body;
  }

  /** Always the same. */
  get stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream ??= this.#makeStream();
  }

  /** The stream, if there is one. */
  get madeStream(): object | undefined {
    return this.#stream;
  }

  /** Whether somebody has read of it, or cancelled it. */
  get isUsed(): boolean {
    if (this.#stream === undefined) return this.#body.isTaken;
    return (this.#stream as unknown as Record<symbol, boolean>)[DISTURBED];
  }

  /** Whether it was read, or is locked to a reader. */
  get isUnusable(): boolean {
    return this.#stream === undefined ? this.#body.isTaken : this.#stream.locked || this.isUsed;
  }

  /** Gives the body up if nobody knows its response any more. */
  watch(response: object): void {
    if (!this.#body.isOver) watchResponse(response, this.#body);
  }

  /** Bytes to come are not about what the head's length and coding say. */
  get isDecoded(): boolean {
    return this.#body.isDecoded;
  }

  /** All of it. */
  readWhole(kind: WholeKind, contentType: string): Promise<unknown> {
    if (this.isUnusable) return Promise.reject(unusable("read"));
    this.#lockStream();
    return readWhole(this.#body, kind, contentType);
  }

  /** All of it, if it is here and nobody has begun to read it. It counts as read then. */
  takeArrived(): Uint8Array<ArrayBuffer> | undefined {
    const { available, isOver, failure, revoked } = this.#body;
    if (!isOver || (failure ?? revoked) !== undefined || this.isUnusable || this.#stream !== undefined) {
      return undefined;
    }
    this.#body.claim();
    const whole = freshBytes(available);
    this.#body.takeInto(whole);
    return whole;
  }

  /** Another one with the same content, to be read on its own. */
  clone(): ReadableBody {
    if (this.isUnusable) throw unusable("clone");
    this.#lockStream();
    const [body, copy] = teeBody(this.#body);
    this.#body = body;
    this.#stream = undefined;
    return new ReadableBody(copy);
  }

  /** How Bun's server reads it: see `lib/runtime/response_shell.ts`. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return new NativeReader(() => this.#claimForNative());
  }

  #makeStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const wasTaken = this.#body.isTaken;
    const stream = this.#body.makeStream();
    if (wasTaken) stream.getReader(); // somebody reads it as a whole
    else if (!this.#body.isOver) watchStream(stream, this.#body);
    return stream;
  }

  /** Nothing was read of it yet, and its source holds nothing: whoever reads now goes past it. */
  #lockStream(): void {
    this.#stream?.getReader();
  }

  #claimForNative(): ResponseBody {
    if (this.isUnusable) throw unusable("send");
    this.#lockStream();
    this.#body.claim();
    return this.#body;
  }
}

/** Gives a body piece by piece to a runtime that asks for them. */
class NativeReader implements AsyncIterator<Uint8Array>, BodyConsumer {
  #claim: (() => ResponseBody) | undefined;
  #body: ResponseBody | undefined = undefined;
  #resolve: ((result: IteratorResult<Uint8Array, undefined>) => void) | undefined = undefined;
  #reject: ((error: unknown) => void) | undefined = undefined;

  constructor(claim: () => ResponseBody) {
    this.#claim = claim;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return new Promise((resolve, reject) => {
      this.#body ??= this.#claim!();
      this.#claim = undefined;
      this.#resolve = resolve;
      this.#reject = reject;
      this.#body.want(this);
    });
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#body?.cancel(new TypeError("Whom the response was sent to does not take the rest of it"));
    return Promise.resolve({ done: true, value: undefined });
  }

  onReady(): void {
    const body = this.#body!;
    if (body.failure !== undefined) this.#reject!(body.failure.reason);
    else if (body.isDone) this.#resolve!({ done: true, value: undefined });
    else this.#resolve!({ done: false, value: body.takeOwn(MOST)! });
  }
}

function unusable(action: string): TypeError {
  return new TypeError(`Cannot ${action} the body of the response: it is being read, or was read already`);
}
