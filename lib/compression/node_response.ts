import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import process from "node:process";
import { counted, isTurnOver, pump } from "../codecs/internal.ts";
import { atEndOfTurn } from "../streams/internal.ts";
import {
  type BodyEncoder,
  encodeWhole,
  MAX_WRITE_SIZE,
  openBodyEncoder,
  unlessItFails,
  WaitingChunk,
} from "./encoding.ts";
import type { Written } from "./node_arguments.ts";
import { argumentsOf, contentOf, holdHead, NodeFields, refusal, replaceIn, setHeaders } from "./node_arguments.ts";
import type { Settings } from "./options.ts";
import { chooseCoding, type Encoding, markEncoded } from "./policy.ts";

/** The methods of a response that are replaced. {@linkcode argumentsOf} distinguishes their overloads. */
interface Methods {
  write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean;
  end(chunk?: unknown, encoding?: unknown, callback?: unknown): unknown;
  writeHead(status: number, ...rest: unknown[]): unknown;
  flushHeaders(): void;
  addTrailers(trailers: unknown): void;
}

interface Queued {
  readonly chunk: WaitingChunk;
  readonly written: Written | undefined;
  readonly isLast: boolean;
}

/** Compresses the body of `res`, if its head allows that at the first write. */
export function compressNode(settings: Settings, req: IncomingMessage, res: ServerResponse): void {
  if (!res.headersSent && !res.writableEnded) new NodeResponse(settings, req, res).replaceMethods();
}

class NodeResponse {
  readonly #settings: Settings;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #plain: Methods;
  #isDecided = false;
  /** Restores `writeHead()`: Bun calls a replaced one for implicit heads, too, and then refuses some of them. */
  #restoreWriteHead: (() => void) | undefined;
  /** Restores the methods of the head, which waits for the body's first piece, since Node sends both together. */
  #releaseHead: (() => void) | undefined;
  #encoding: Encoding | undefined;
  #isMarked = false;
  #hasTrailers: boolean;
  #encoder: BodyEncoder | undefined;
  /** The compressed body, if `end()` got all of it. */
  #whole: Uint8Array | undefined;
  #isEnded = false;
  /** Callbacks of writes whose output is still in the encoder. */
  readonly #waiting: Written[] = [];
  /** Callbacks passed to the runtime with output: Deno drops some of them when the client disconnects. */
  readonly #sent = new Set<Written>();
  /** Pending writes: a large one is encoded over several turns, during which later ones wait. */
  readonly #queue: Queued[] = [];
  /** Calls after `end()`, while that is queued: the runtime refuses them once it has run `end()`. */
  readonly #late: (() => void)[] = [];
  #willFlush = false;
  #isClosed = false;

  constructor(settings: Settings, req: IncomingMessage, res: ServerResponse) {
    this.#settings = settings;
    this.#req = req;
    this.#res = res;
    this.#hasTrailers = Boolean((res as { _trailer?: string })._trailer); // has no public name
    const { write, end, writeHead, flushHeaders, addTrailers } = res as unknown as Methods;
    this.#plain = {
      write: write.bind(res),
      end: end.bind(res),
      writeHead: writeHead.bind(res),
      flushHeaders: flushHeaders?.bind(res),
      addTrailers: addTrailers?.bind(res),
    };
  }

  replaceMethods(): void {
    const res = this.#res;
    const writeHead: Methods["writeHead"] = (...given) => this.#writeHead(...given);
    const restore = replaceIn(res, ["writeHead"], () => writeHead);
    this.#restoreWriteHead = () => void (res.writeHead === writeHead && restore()); // a middleware may have wrapped it
    const methods: Omit<Methods, "writeHead"> & { flush(): void } = {
      write: (...given) => this.#write(...given),
      end: (...given) => this.#end(...given),
      flushHeaders: () => {
        this.#decide(undefined);
        this.#withHead(() => this.#plain.flushHeaders());
      },
      flush: () => this.#flush(),
      addTrailers: (trailers) => {
        this.#hasTrailers = true;
        if (this.#releaseHead !== undefined) this.#makeHead(); // without the length, which would drop them
        this.#plain.addTrailers(trailers);
      },
    };
    Object.assign(res, methods);
    if (res.destroyed) this.#closed(); // `close` may have been emitted
    else res.once("close", () => this.#closed());
  }

  /** Chooses the coding once, before the head is written. `body` is its first piece, the whole body, or unknown so far. */
  #decide(body: "piece" | WaitingChunk | undefined): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    this.#releaseHead?.();
    const settings = this.#settings;
    const res = this.#res;
    if (res.headersSent) return;
    const fields = new NodeFields(res);
    const { method = "GET", headers } = this.#req;
    const { originalUrl } = this.#req as { originalUrl?: string }; // set by Express, whose url lacks the router's path
    const url = originalUrl ?? this.#req.url ?? "";
    const accepted = headers["accept-encoding"] as string | undefined;
    const request = (name: string): string | undefined => headers[name] as string | undefined;
    const exchange = { method, url, accepted, status: res.statusCode, request, fields };
    const whole = body === "piece" ? undefined : body;
    const isKnown = whole !== undefined && (whole.length > 0 || method !== "HEAD");
    const encoding = chooseCoding(settings, exchange, isKnown ? whole.length : undefined);
    if (encoding === undefined) return;
    if (method === "HEAD") return this.#mark(fields, encoding.coding);
    if (body === "piece") {
      this.#encoder = unlessItFails(settings, encoding, () => this.#open(encoding));
      if (this.#encoder === undefined) return;
    }
    if (whole !== undefined && whole.length <= MAX_WRITE_SIZE) {
      this.#whole = unlessItFails(settings, encoding, () => encodeWhole(settings, encoding, whole.bytes));
      if (this.#whole === undefined) return;
    }
    this.#encoding = encoding;
    this.#mark(fields, encoding.coding);
    const isChunked = this.#hasTrailers || res.hasHeader("transfer-encoding") || res.hasHeader("trailer");
    if (this.#whole && !isChunked) fields.set("content-length", String(this.#whole.length));
  }

  #mark(fields: NodeFields, coding: Encoding["coding"]): void {
    this.#isMarked = true;
    markEncoded(fields, coding);
  }

  #writeHead(status: number, ...rest: unknown[]): unknown {
    const isStatus = Number.isInteger(status) && status >= 100 && status <= 999;
    if (this.#releaseHead !== undefined) this.#makeHead();
    // The runtime's method throws, unless the coding has been chosen already.
    if (!isStatus || this.#res.headersSent || this.#isDecided) return this.#plain.writeHead(status, ...rest);
    this.#res.statusCode = status;
    const message = typeof rest[0] === "string" ? rest.shift() as string : undefined;
    if (message !== undefined) this.#res.statusMessage = message;
    setHeaders(this.#res, rest.find((each) => each !== undefined && each !== null));
    const isKnown = this.#hasTrailers || this.#res.hasHeader("content-length") || this.#res.hasHeader("trailer");
    // Only if the length matters can the head wait for it.
    const mayWait = this.#req.httpVersionMajor === 1 && status >= 200 && !isKnown;
    if (message !== undefined || !mayWait) return this.#makeHead(message);
    const release = holdHead(this.#res, () => this.#makeHead());
    this.#releaseHead = () => {
      this.#releaseHead = undefined;
      release();
      this.#res.statusCode = status;
    };
    return this.#res;
  }

  #makeHead(message?: string): unknown {
    this.#decide(undefined);
    return this.#withHead(() => {
      return this.#plain.writeHead(this.#res.statusCode, ...(message === undefined ? [] : [message]));
    });
  }

  /** Runs a step that sends the head. If the runtime refuses the step, the next step chooses the coding again. */
  #withHead<T>(step: () => T): T {
    if (this.#encoding === undefined) this.#restoreWriteHead?.();
    try {
      return step();
    } catch (error) {
      if (!this.#res.headersSent) this.#undecide();
      throw error;
    }
  }

  #undecide(): void {
    this.#isDecided = false;
    this.#isEnded = false;
    this.#encoder?.close();
    this.#encoder = undefined;
    this.#whole = undefined;
    this.#encoding = undefined;
    if (!this.#isMarked) return;
    this.#isMarked = false;
    this.#res.removeHeader("content-encoding");
    this.#res.removeHeader("content-length");
  }

  #write(...given: readonly unknown[]): boolean {
    const { chunk, encoding, written } = argumentsOf(given);
    const content = contentOf(chunk, encoding, MAX_WRITE_SIZE);
    const inPlain = (): boolean => this.#plain.write(chunk, encoding, written);
    if (content === undefined) return this.#asItIs(inPlain, chunk, encoding);
    this.#decide("piece");
    if (this.#isEnded && this.#queue.length > 0) return this.#late.push(inPlain) < 0;
    if (this.#encoding === undefined || this.#isEnded || this.#isClosed) return this.#withHead(inPlain);
    this.#implyHead();
    const waiting = new WaitingChunk(content);
    if (this.#mustWait(waiting)) {
      this.#enqueue({ chunk: waiting, written, isLast: false });
      return false;
    }
    try {
      this.#encoder ??= this.#open(this.#encoding);
      this.#put(this.#encodeNow(this.#encoder, waiting), written);
    } catch (error) {
      return this.#fail(error);
    }
    this.#flushSoon();
    return !this.#res.destroyed && !needsDrain(this.#res);
  }

  #end(...given: readonly unknown[]): unknown {
    const { chunk, encoding, written } = argumentsOf(given);
    const most = Math.max(MAX_WRITE_SIZE, this.#settings.threshold);
    const content = chunk ? contentOf(chunk, encoding, most) : new Uint8Array(0); // as in Node: false is no chunk
    const inPlain = (): unknown => this.#plain.end(...given);
    if (content === undefined) return this.#asItIs(inPlain, chunk, encoding);
    const waiting = new WaitingChunk(content);
    this.#decide(waiting);
    if (this.#isEnded && this.#queue.length > 0) {
      this.#late.push(inPlain);
      return this.#res;
    }
    if (this.#encoding === undefined || this.#isEnded || this.#isClosed) return this.#withHead(inPlain);
    this.#isEnded = true;
    if (this.#whole !== undefined) return this.#withHead(() => this.#plain.end(this.#whole, undefined, written));
    this.#implyHead();
    if (this.#mustWait(waiting)) {
      this.#enqueue({ chunk: waiting, written, isLast: true });
      // The value that the property would have without the queue.
      Object.defineProperty(this.#res, "writableEnded", { value: true, configurable: true });
      return this.#res;
    }
    try {
      const output = this.#encoder === undefined
        ? [encodeWhole(this.#settings, this.#encoding, waiting.bytes)]
        : [...this.#encodeNow(this.#encoder, waiting), ...this.#encoder.finish()];
      return this.#endWith(output, written);
    } catch (error) {
      this.#fail(error);
      return this.#res;
    }
  }

  /** Passes a chunk of another type to the runtime. Bun writes `String` objects, which cannot be encoded here. */
  #asItIs<T>(inPlain: () => T, chunk: unknown, encoding: unknown): T {
    if (this.#isMarked) throw refusal(chunk, encoding);
    this.#isDecided = true;
    this.#releaseHead?.();
    return this.#withHead(inPlain);
  }

  /** Sends the head before an encoder's first output, which may be delayed. Throws if it cannot be sent. */
  #implyHead(): void {
    const res = this.#res;
    if (!res.headersSent) this.#withHead(() => res.writeHead(res.statusCode));
  }

  #endWith(output: Uint8Array[], written: Written | undefined): unknown {
    const last = output.pop();
    this.#put(output);
    if (written !== undefined) this.#waiting.push(written);
    return this.#plain.end(last, undefined, this.#takeWaiting());
  }

  #mustWait({ length }: WaitingChunk): boolean {
    return length > MAX_WRITE_SIZE || this.#queue.length > 0 || (this.#encoder !== undefined && isTurnOver());
  }

  #encodeNow(encoder: BodyEncoder, chunk: WaitingChunk): Uint8Array[] {
    return counted(() => [...encoder.steps(chunk)].filter(({ length }) => length > 0));
  }

  #enqueue(queued: Queued): void {
    if (this.#queue.push(queued) > 1) return;
    this.#encodeQueue().catch((error) => this.#fail(error));
  }

  /** Encodes pending writes over several turns of the event loop, at the pace of the client. */
  async #encodeQueue(): Promise<void> {
    const encoder = this.#encoder ??= this.#open(this.#encoding!);
    while (this.#queue.length > 0) {
      const { chunk, written, isLast } = this.#queue[0];
      await pump(encoder.steps(chunk), (output) => this.#putAndWait(output));
      if (this.#isClosed) return;
      this.#queue.shift();
      if (isLast) {
        const output = encoder.finish();
        Reflect.deleteProperty(this.#res, "writableEnded");
        this.#endWith(output, written);
        for (const step of this.#late.splice(0)) step();
        return;
      }
      if (written !== undefined) this.#waiting.push(written);
    }
    this.#flush();
    if (!needsDrain(this.#res)) this.#res.emit("drain"); // earlier writes have returned false
  }

  /** Sends output; settles when the response has room, or is closed. */
  #putAndWait(output: Uint8Array): void | Promise<void> {
    this.#put([output]);
    if (this.#isClosed || !needsDrain(this.#res)) return;
    return new Promise((resolve) => {
      const goOn = (): void => {
        this.#res.off("drain", goOn).off("close", goOn);
        resolve();
      };
      this.#res.on("drain", goOn).on("close", goOn);
    });
  }

  /** @throws {RangeError} if memory runs out. */
  #open(encoding: Encoding): BodyEncoder {
    return openBodyEncoder(this.#settings, encoding, new NodeFields(this.#res).get("content-type"));
  }

  #flush(): void {
    if (this.#encoder === undefined || this.#isEnded || this.#isClosed || this.#res.destroyed) return;
    try {
      this.#put(this.#encoder.flush());
      const written = this.#takeWaiting(); // callbacks of empty chunks
      if (written !== undefined) process.nextTick(written);
    } catch (error) {
      this.#fail(error);
    }
  }

  #flushSoon(): void {
    if (this.#willFlush) return;
    this.#willFlush = true;
    atEndOfTurn(() => {
      this.#willFlush = false;
      this.#flush();
    });
  }

  /** Sends output. A callback of a write without output is called with those of the next write that has some. */
  #put(output: readonly Uint8Array[], written?: Written): void {
    if (written !== undefined) this.#waiting.push(written);
    for (const [i, piece] of output.entries()) {
      this.#plain.write(piece, undefined, i === output.length - 1 ? this.#takeWaiting() : undefined);
    }
  }

  #takeWaiting(): Written | undefined {
    if (this.#waiting.length === 0) return undefined;
    const waiting = this.#waiting.splice(0);
    const all: Written = (error) => {
      if (this.#sent.delete(all)) waiting.forEach((written) => written(error));
    };
    this.#sent.add(all);
    return all;
  }

  /** Drops the encoder's output, as the response has closed. */
  #closed(): void {
    this.#isClosed = true;
    this.#releaseHead?.();
    this.#encoder?.close();
    for (const { written } of this.#queue.splice(0)) if (written !== undefined) this.#waiting.push(written);
    const code = "ERR_STREAM_DESTROYED";
    const error = Object.assign(new Error("Cannot call write after a stream was destroyed"), { code });
    this.#takeWaiting()?.(error);
    // Runs after the runtime has called the callbacks that it has kept.
    atEndOfTurn(() => this.#sent.forEach((written) => written(error)));
    for (const step of this.#late.splice(0)) step();
  }

  /** Ends a response whose codec has failed, so that its client does not take it for complete. */
  #fail(error: unknown): boolean {
    this.#settings.warn(`a response was cut off: ${(error as Error).message}`);
    this.#encoder?.close();
    this.#res.destroy(error as Error);
    return false;
  }
}

/** Whether `drain` is still to be emitted, even to listeners that were added before the wrapper. */
function needsDrain(res: ServerResponse): boolean {
  return res.writableNeedDrain ?? (res as unknown as Http2ServerResponse).stream.writableNeedDrain;
}
