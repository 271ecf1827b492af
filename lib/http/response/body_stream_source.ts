import type { ReadableByteStreamController, UnderlyingByteSource } from "../../streams/mod.ts";
import type { BodyConsumer, ResponseBody } from "./response_body.ts";

/** The most bytes of a chunk. */
const MOST = 64 * 1024;

/** The underlying source of a response body's stream: it takes no bytes before they are asked for, and gives copies. */
export class BodyStreamSource implements UnderlyingByteSource, BodyConsumer {
  readonly type = "bytes";
  readonly #body: ResponseBody;
  /** Undefined once the stream has ended. */
  #controller: ReadableByteStreamController | undefined = undefined;
  #isWanted = false;

  /** @param body The body whose bytes the stream gives. */
  constructor(body: ResponseBody) {
    this.#body = body;
  }

  /** Keeps the controller, and ends the stream of a body that has nothing to give. */
  start(controller: ReadableByteStreamController): void {
    this.#controller = controller;
    this.#endIfOver(controller);
  }

  /** Asks the body for bytes, which are enqueued as soon as there are some. */
  pull(): void {
    this.#isWanted = true;
    this.#body.want(this);
  }

  /** Cancels the body. */
  cancel(reason: unknown): void {
    this.#controller = undefined;
    this.#body.cancel(reason);
  }

  onReady(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    if (this.#isWanted && this.#body.available > 0) this.#give(controller);
    // What was given may have led to the next pull, and that to the end.
    if (this.#controller !== undefined) this.#endIfOver(controller);
  }

  #give(controller: ReadableByteStreamController): void {
    this.#isWanted = false;
    const request = controller.byobRequest;
    if (request !== null) {
      const { buffer, byteOffset, byteLength } = request.view!;
      request.respond(this.#body.takeInto(new Uint8Array(buffer, byteOffset, byteLength)));
      return;
    }
    controller.enqueue(this.#body.takeOwn(MOST)!);
  }

  #endIfOver(controller: ReadableByteStreamController): void {
    const { failure, isDone } = this.#body;
    if (failure === undefined && !isDone) return;
    this.#controller = undefined;
    if (failure !== undefined) {
      controller.error(failure.reason);
      return;
    }
    controller.close();
    controller.byobRequest?.respond(0); // a view that waits is given back
  }
}
