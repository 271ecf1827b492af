import type { ReadableByteStreamController, UnderlyingByteSource } from "../../streams/mod.ts";
import type { BodyConsumer, ResponseBody } from "./response_body.ts";

/** The most bytes of a chunk. */
const MOST = 64 * 1024;

/** Where the stream of a response's body takes its bytes. Nothing is taken before it is asked for. */
export class BodyStreamSource implements UnderlyingByteSource, BodyConsumer {
  readonly type = "bytes";
  readonly #body: ResponseBody;
  #controller: ReadableByteStreamController | undefined = undefined;
  #isWanted = false;
  isUsed: boolean;

  constructor(body: ResponseBody, isUsed: boolean) {
    this.#body = body;
    this.isUsed = isUsed;
  }

  start(controller: ReadableByteStreamController): void {
    this.#controller = controller;
    if (this.#body.failure !== undefined) this.onReady();
    else if (this.#body.isDone) controller.close();
  }

  pull(): void {
    this.isUsed = true;
    this.#isWanted = true;
    if (this.#body.available > 0 || this.#body.isOver) this.onReady();
    else this.#body.want();
  }

  cancel(reason: unknown): void {
    this.isUsed = true;
    this.#controller = undefined;
    this.#body.cancel(reason);
  }

  onReady(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    const { failure } = this.#body;
    if (failure !== undefined) {
      this.#controller = undefined;
      controller.error(failure.reason);
      return;
    }
    if (this.#isWanted && this.#body.available > 0) this.#give(controller);
    if (this.#body.isDone) this.#close(controller);
  }

  #give(controller: ReadableByteStreamController): void {
    this.#isWanted = false;
    const request = controller.byobRequest;
    if (request !== null) {
      const { buffer, byteOffset, byteLength } = request.view!;
      request.respond(this.#body.takeInto(new Uint8Array(buffer, byteOffset, byteLength)));
      return;
    }
    const chunk = new Uint8Array(Math.min(this.#body.available, MOST));
    this.#body.takeInto(chunk);
    controller.enqueue(chunk);
  }

  #close(controller: ReadableByteStreamController): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    controller.close();
    controller.byobRequest?.respond(0);
  }
}
