import { isDisturbed } from "../../runtime/mod.ts";
import { endBytes, joinBytes } from "../../streams/internal.ts";
import { type ReadableByteStreamController, ReadableStream, type UnderlyingByteSource } from "../../streams/mod.ts";
import { ByteQueue } from "./byte_queue.ts";
import { type BodyConsumer, ResponseBody, Unreachable } from "./response_body.ts";

export type WholeKind = "text" | "json" | "bytes" | "arrayBuffer" | "blob" | "formData";

const decoder = new TextDecoder();

/** Reads a body to its end and converts it to the requested type; rejects with the error of the body or the conversion. */
export function readWhole(body: ResponseBody, kind: WholeKind, contentType: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    body.isTaken = true;
    const rest = body.takeRest();
    if (rest !== undefined) return resolve(convertWhole(rest, kind, contentType));
    const chunks = new ByteQueue();
    const reader: BodyConsumer = {
      onReady() {
        for (let chunk = body.take(); chunk !== undefined; chunk = body.take()) chunks.push(chunk);
        const { outcome } = body;
        if (outcome === undefined) return body.want(reader);
        if (!outcome.isWhole) return reject(outcome.reason);
        try {
          resolve(convertWhole(chunks, kind, contentType));
        } catch (error) {
          reject(error);
        }
      },
    };
    body.want(reader);
  });
}

/** Converts a whole body, which is empty afterwards, to the requested type. */
export function convertWhole(chunks: ByteQueue, kind: WholeKind, contentType: string): unknown {
  if (kind === "text") return decoder.decode(chunks.takeAll());
  if (kind === "json") return JSON.parse(decoder.decode(chunks.takeAll()));
  if (kind === "bytes") return chunks.copyAll();
  if (kind === "arrayBuffer") return chunks.copyAll().buffer;
  if (kind === "blob") return new Blob(chunks.clear() as Uint8Array<ArrayBuffer>[], { type: contentType });
  const headers: HeadersInit = contentType === "" ? {} : { "content-type": contentType };
  return new Response(chunks.takeAll() as Uint8Array<ArrayBuffer>, { headers }).formData();
}

/** Two bodies made from one. Bytes that only one of them has taken wait for the other, without limit. @see {@link https://fetch.spec.whatwg.org/#concept-body-clone} */
class BodyTee implements BodyConsumer {
  readonly #source: ResponseBody;
  readonly branches: [ResponseBody, ResponseBody] = [this.#branch(), this.#branch()];
  #isWanted = false;
  #isRunning = false;

  constructor(source: ResponseBody) {
    this.#source = source;
    for (const branch of this.branches) branch.isDecoded = source.isDecoded;
    source.isTaken = true;
    source.watch(this);
    this.#run();
  }

  onReady(): void {
    this.#run();
  }

  #branch(): ResponseBody {
    return new ResponseBody({
      consumed: () => {}, // the next demand reads it
      wanted: () => {
        this.#isWanted = true;
        this.#run();
      },
      cancel: (reason) => {
        if (this.branches.every((branch) => branch.isOver)) this.#source.cancel(reason);
      },
      revoked: () => this.#source.revoked,
    });
  }

  /** Moves pieces to both branches, without recursion: both get a piece before either gets the next. */
  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const source = this.#source;
    while (this.#isWanted && source.available > 0) {
      this.#isWanted = false;
      const chunk = source.take()!;
      for (const branch of this.branches) branch.push(chunk);
    }
    this.#isRunning = false;
    const { outcome } = source;
    if (outcome === undefined) return this.#isWanted ? source.want(this) : undefined;
    for (const branch of this.branches) {
      if (outcome.isWhole) branch.end(outcome.trailers);
      else branch.fail(outcome.reason);
    }
  }
}

const MAX_CHUNK_SIZE = 64 * 1024;

/** The underlying source of a response body's stream: takes no bytes before a pull, and enqueues copies. */
class BodyStreamSource implements UnderlyingByteSource, BodyConsumer {
  readonly type = "bytes";
  readonly #body: ResponseBody;
  #controller: ReadableByteStreamController | undefined = undefined;
  #isWanted = false;

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  start(controller: ReadableByteStreamController): void {
    this.#controller = controller;
    this.#endIfOver(controller);
  }

  pull(): void {
    this.#isWanted = true;
    this.#body.want(this);
  }

  cancel(reason: unknown): void {
    this.#controller = undefined;
    this.#body.cancel(reason);
  }

  onReady(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    if (this.#isWanted && this.#body.available > 0) this.#give(controller);
    // The enqueued bytes may have caused the next pull, which may have ended the stream.
    if (this.#controller !== undefined) this.#endIfOver(controller);
  }

  #give(controller: ReadableByteStreamController): void {
    this.#isWanted = false;
    const request = controller.byobRequest;
    if (request === null) return controller.enqueue(this.#body.takeOwn(MAX_CHUNK_SIZE)!);
    const { buffer, byteOffset, byteLength } = request.view!;
    request.respond(this.#body.takeInto(new Uint8Array(buffer, byteOffset, byteLength)));
  }

  #endIfOver(controller: ReadableByteStreamController): void {
    const { outcome } = this.#body;
    if (outcome === undefined) return;
    this.#controller = undefined;
    if (!outcome.isWhole) return controller.error(outcome.reason);
    endBytes(controller);
  }
}

/** The body of a response, read once in one of three ways. @see {@link https://fetch.spec.whatwg.org/#body-mixin} */
export class ReadableBody {
  #body: ResponseBody;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined = undefined;

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  get stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream ??= this.#makeStream();
  }

  get madeStream(): object | undefined {
    return this.#stream;
  }

  get isUsed(): boolean {
    return this.#stream === undefined ? this.#body.isTaken : isDisturbed(this.#stream);
  }

  get isUnusable(): boolean {
    return this.#stream === undefined ? this.#body.isTaken : this.#stream.locked || this.isUsed;
  }

  /** Cancels the body once the response is unreachable. */
  watch(response: object): void {
    watch(responses, response, this.#body);
  }

  /** Whether the head's length and coding do not describe the bytes to come. */
  get isDecoded(): boolean {
    return this.#body.isDecoded;
  }

  get trailers(): Promise<Headers> {
    return this.#body.trailers;
  }

  readWhole(kind: WholeKind, contentType: string): Promise<unknown> {
    if (this.isUnusable) return Promise.reject(unusable("read"));
    this.#lockStream();
    return readWhole(this.#body, kind, contentType);
  }

  /** Returns a copy of the whole body, if it has arrived and is unread. It stays unread: a runtime may only inspect it. */
  copyArrived(): Uint8Array<ArrayBuffer> | undefined {
    const { rest } = this.#body;
    if (rest === undefined || this.isUnusable || this.#stream !== undefined) return undefined;
    return joinBytes(rest.pieces, rest.length);
  }

  clone(): ReadableBody {
    if (this.isUnusable) throw unusable("clone");
    this.#lockStream();
    const [body, copy] = new BodyTee(this.#body).branches;
    this.#body = body;
    this.#stream = undefined;
    return new ReadableBody(copy);
  }

  /** Iterates as Bun's server reads it: see `lib/runtime/response_base.ts`. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return new NativeReader(() => this.#claimForNative());
  }

  #makeStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const body = this.#body;
    const source = new BodyStreamSource(body);
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(source, { highWaterMark: 0 });
    const weak = new WeakRef(source); // the handler of the end needs no reference to it
    body.watch({ onReady: () => weak.deref()?.onReady() });
    if (body.isTaken) stream.getReader(); // the body is being read whole
    else watch(streams, stream, body);
    body.isTaken = true;
    return stream;
  }

  /** Locks the stream of an unread body without bytes in its source: a reader bypasses and outlives it. */
  #lockStream(): void {
    this.#stream?.getReader();
    streams.unregister(this.#body);
  }

  #claimForNative(): ResponseBody {
    if (this.isUnusable) throw unusable("send");
    this.#lockStream();
    this.#body.isTaken = true;
    return this.#body;
  }
}

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
    const { outcome } = this.#body!;
    if (outcome === undefined) this.#resolve!({ done: false, value: this.#body!.takeOwn(MAX_CHUNK_SIZE)! });
    else if (outcome.isWhole) this.#resolve!({ done: true, value: undefined });
    else this.#reject!(outcome.reason);
  }
}

function unusable(action: string): TypeError {
  return new TypeError(`Cannot ${action} the body of the response: it is being read, or was read already`);
}

/** Bodies by their responses: a body that was taken has a stream or another reader, which may live longer. */
const responses = new FinalizationRegistry<ResponseBody>((body) => {
  if (!body.isTaken) body.cancel(new Unreachable());
});
const streams = new FinalizationRegistry<ResponseBody>((body) => body.cancel(new Unreachable()));

/** Cancels a body once it is unreachable. A finished body is not kept, since it may lead to its stream. */
function watch(registry: FinalizationRegistry<ResponseBody>, readable: object, body: ResponseBody): void {
  if (body.isOver) return;
  registry.register(readable, body, body);
  body.onOver = forget;
}

function forget(body: ResponseBody): void {
  responses.unregister(body);
  streams.unregister(body);
}
