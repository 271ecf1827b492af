import { Buffer } from "node:buffer";
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import process from "node:process";
import { types } from "node:util";
import { atEndOfTurn } from "../streams/internal.ts";
import { type BodyEncoder, encodeWhole, openBodyEncoder, unlessItFails } from "./encoding.ts";
import { NodeFields } from "./node_fields.ts";
import type { Settings } from "./options.ts";
import { chooseCoding, type Encoding, markEncoded } from "./policy.ts";

type Written = (error?: Error | null) => void;

/** The methods of a response that are replaced. Their overloads are told apart by {@linkcode argumentsOf}. */
interface Methods {
  write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean;
  end(chunk?: unknown, encoding?: unknown, callback?: unknown): unknown;
  writeHead(status: number, ...rest: unknown[]): unknown;
  flushHeaders(): void;
}

/** Bytes that wait to be encoded. */
interface Queued {
  readonly bytes: Uint8Array;
  readonly written: Written | undefined;
  readonly isLast: boolean;
}

/** The most bytes that are encoded in one turn of the event loop. */
const MOST_AT_ONCE = 256 * 1024;

/** Has what is written to `res` compressed, if its head allows it when that is written. */
export function compressNode(settings: Settings, req: IncomingMessage, res: ServerResponse): void {
  if (!res.headersSent && !res.writableEnded) new NodeResponse(settings, req, res).replaceMethods();
}

/** A response whose writes go through an encoder. */
class NodeResponse {
  readonly #settings: Settings;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #plain: Methods;
  #isDecided = false;
  #encoding: Encoding | undefined;
  /** For a body that is written in pieces. */
  #encoder: BodyEncoder | undefined;
  /** The body's compressed form, if all of it was given to `end()`. */
  #whole: Uint8Array | undefined;
  #isEnded = false;
  /** Callbacks of writes whose output is still in the encoder. */
  readonly #waiting: Written[] = [];
  /** Writes that wait for their turn: a large one is encoded over several turns, and later ones follow it. */
  readonly #queue: Queued[] = [];
  #willFlush = false;
  #isClosed = false;

  constructor(settings: Settings, req: IncomingMessage, res: ServerResponse) {
    this.#settings = settings;
    this.#req = req;
    this.#res = res;
    const { write, end, writeHead, flushHeaders } = res as unknown as Methods;
    this.#plain = {
      write: write.bind(res),
      end: end.bind(res),
      writeHead: writeHead.bind(res),
      flushHeaders: flushHeaders?.bind(res),
    };
  }

  replaceMethods(): void {
    const res = this.#res;
    const methods: Methods & { flush(): void } = {
      write: (...given) => this.#write(...given),
      end: (...given) => this.#end(...given),
      writeHead: (...given) => this.#writeHead(...given),
      flushHeaders: () => {
        this.#decide(undefined);
        this.#plain.flushHeaders();
      },
      flush: () => this.#flush(),
    };
    Object.assign(res, methods);
    res.once("close", () => this.#closed());
  }

  /**
   * Chooses the coding, once, when the head is about to be written.
   *
   * @param body What follows the head: the first piece of the body, all of it, or nobody knows yet.
   */
  #decide(body: "piece" | Uint8Array | undefined): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    const settings = this.#settings;
    const res = this.#res;
    if (res.headersSent) return;
    const fields = new NodeFields(res);
    const { method = "GET", headers } = this.#req;
    const { originalUrl } = this.#req as { originalUrl?: string }; // of Express: url lacks the path of the router
    const url = originalUrl ?? this.#req.url ?? "";
    const accepted = headers["accept-encoding"] as string | undefined;
    const request = (name: string): string | undefined => headers[name] as string | undefined;
    const exchange = { method, url, accepted, status: res.statusCode, request, fields };
    const isKnown = body instanceof Uint8Array && (body.length > 0 || method !== "HEAD");
    const encoding = chooseCoding(settings, exchange, isKnown ? body.length : undefined);
    if (encoding === undefined) return;
    if (method === "HEAD") return markEncoded(fields, encoding.coding);
    if (body === "piece") {
      this.#encoder = unlessItFails(settings, encoding, () => this.#open(encoding));
      if (this.#encoder === undefined) return;
    }
    if (body instanceof Uint8Array && body.length <= MOST_AT_ONCE) {
      this.#whole = unlessItFails(settings, encoding, () => encodeWhole(settings, encoding, body));
      if (this.#whole === undefined) return;
    }
    this.#encoding = encoding;
    markEncoded(fields, encoding.coding);
    const isChunked = res.hasHeader("transfer-encoding") || res.hasHeader("trailer");
    if (this.#whole && !isChunked) fields.set("content-length", String(this.#whole.length));
  }

  #writeHead(status: number, ...rest: unknown[]): unknown {
    const isStatus = Number.isInteger(status) && status >= 100 && status <= 999;
    if (!isStatus || this.#res.headersSent) return this.#plain.writeHead(status, ...rest); // which throws
    if (!this.#isDecided) {
      this.#res.statusCode = status;
      const message = typeof rest[0] === "string" ? rest.shift() as string : undefined;
      if (message !== undefined) this.#res.statusMessage = message;
      setHeaders(this.#res, rest.find((each) => each !== undefined && each !== null));
      this.#decide(undefined);
      return message === undefined ? this.#plain.writeHead(status) : this.#plain.writeHead(status, message);
    }
    return this.#plain.writeHead(status, ...rest);
  }

  #write(...given: readonly unknown[]): boolean {
    const { chunk, encoding, written } = argumentsOf(given);
    const bytes = bytesOf(chunk, encoding);
    if (bytes !== undefined) this.#decide("piece");
    if (bytes === undefined || this.#encoding === undefined || this.#isEnded || this.#isClosed) {
      return this.#plain.write(chunk, encoding, written); // what cannot be written throws there
    }
    if (bytes.length > MOST_AT_ONCE || this.#queue.length > 0) {
      this.#enqueue({ bytes, written, isLast: false });
      return false;
    }
    try {
      this.#encoder ??= this.#open(this.#encoding);
      this.#put(this.#encoder.write(bytes), written);
    } catch (error) {
      return this.#fail(error);
    }
    this.#flushSoon();
    return !this.#res.destroyed && !needsDrain(this.#res);
  }

  #end(...given: readonly unknown[]): unknown {
    const { chunk, encoding, written } = argumentsOf(given);
    const bytes = chunk === undefined || chunk === null ? new Uint8Array(0) : bytesOf(chunk, encoding);
    if (bytes !== undefined) this.#decide(bytes);
    if (bytes === undefined || this.#encoding === undefined || this.#isEnded || this.#isClosed) {
      return this.#plain.end(...given);
    }
    this.#isEnded = true;
    if (this.#whole === undefined && (bytes.length > MOST_AT_ONCE || this.#queue.length > 0)) {
      this.#enqueue({ bytes, written, isLast: true });
      return this.#res;
    }
    try {
      const output = this.#encoder === undefined
        ? [this.#whole ?? encodeWhole(this.#settings, this.#encoding, bytes)]
        : [...this.#encoder.write(bytes), ...this.#encoder.finish()];
      return this.#endWith(output, written);
    } catch (error) {
      this.#fail(error);
      return this.#res;
    }
  }

  #endWith(output: Uint8Array[], written: Written | undefined): unknown {
    const last = output.pop();
    this.#put(output);
    if (written !== undefined) this.#waiting.push(written);
    return this.#plain.end(last, undefined, this.#takeWaiting());
  }

  #enqueue(queued: Queued): void {
    if (this.#queue.push(queued) > 1) return;
    this.#encodeQueue().catch((error) => this.#fail(error));
  }

  /** Encodes what waits, some in each turn, as fast as the client reads. */
  async #encodeQueue(): Promise<void> {
    const encoder = this.#encoder ??= this.#open(this.#encoding!);
    while (this.#queue.length > 0) {
      const { bytes, written, isLast } = this.#queue[0];
      for (let start = 0; start < bytes.length; start += MOST_AT_ONCE) {
        this.#put(encoder.write(bytes.subarray(start, start + MOST_AT_ONCE)));
        await this.#nextTurn();
        if (this.#isClosed) return;
      }
      if (isLast) return void this.#endWith(encoder.finish(), written);
      if (written !== undefined) this.#waiting.push(written);
      this.#queue.shift();
    }
    this.#flush();
    if (!needsDrain(this.#res)) this.#res.emit("drain"); // as writes were told to wait for
  }

  /** Settles at the end of this turn, or later, when there is room in the response, or when that is closed. */
  #nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      if (!needsDrain(this.#res)) return atEndOfTurn(resolve);
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
      const written = this.#takeWaiting(); // of empty chunks
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

  /** Sends output. Callbacks of writes that gave none are called with those of the next one that does. */
  #put(output: readonly Uint8Array[], written?: Written): void {
    if (written !== undefined) this.#waiting.push(written);
    for (const [i, piece] of output.entries()) {
      this.#plain.write(piece, undefined, i === output.length - 1 ? this.#takeWaiting() : undefined);
    }
  }

  /** Returns one callback for all that wait. */
  #takeWaiting(): Written | undefined {
    if (this.#waiting.length === 0) return undefined;
    const waiting = this.#waiting.splice(0);
    return (error) => waiting.forEach((written) => written(error));
  }

  /** Nobody reads what is still in the encoder. */
  #closed(): void {
    this.#isClosed = true;
    this.#encoder?.close();
    for (const { written } of this.#queue.splice(0)) if (written !== undefined) this.#waiting.push(written);
    if (this.#waiting.length === 0) return;
    const error = Object.assign(new Error("Cannot call write after a stream was destroyed"), {
      code: "ERR_STREAM_DESTROYED",
    });
    this.#takeWaiting()!(error);
  }

  /** Ends a response whose codec has failed, so that its client cannot take it for whole. */
  #fail(error: unknown): boolean {
    this.#settings.warn(`a response was cut off: ${(error as Error).message}`);
    this.#encoder?.close();
    this.#res.destroy(error as Error);
    return false;
  }
}

function argumentsOf(
  [chunk, encoding, callback]: readonly unknown[],
): { chunk: unknown; encoding: BufferEncoding | undefined; written: Written | undefined } {
  const isFunction = (value: unknown): value is Written => typeof value === "function";
  const written = [chunk, encoding, callback].find(isFunction);
  return {
    chunk: isFunction(chunk) ? undefined : chunk,
    encoding: typeof encoding === "string" ? encoding as BufferEncoding : undefined,
    written,
  };
}

/** The bytes of a chunk; undefined if it cannot be written. */
function bytesOf(chunk: unknown, encoding: BufferEncoding | undefined): Uint8Array | undefined {
  if (types.isUint8Array(chunk)) return chunk; // of any realm
  if (typeof chunk !== "string" || (encoding && !Buffer.isEncoding(encoding))) return undefined;
  return Buffer.from(chunk, encoding);
}

/** Whether `drain` is still to come, also for listeners that were put before anything of ours. */
function needsDrain(res: ServerResponse): boolean {
  return res.writableNeedDrain ?? (res as unknown as Http2ServerResponse).stream.writableNeedDrain;
}

/** Sets the fields that `writeHead()` was given: an object, or an array of names and values, flat or in pairs. */
function setHeaders(res: ServerResponse, given: unknown): void {
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given ?? {})) {
      if (value !== undefined) res.setHeader(name, value as OutgoingHttpHeader);
    }
    return;
  }
  const values = new Map<string, string[]>();
  const pairs = Array.isArray(given[0]) ? given as [string, unknown][] : pairsOf(given);
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    values.set(key, [...values.get(key) ?? [], ...[value].flat().map(String)]);
    res.setHeader(name, values.get(key)!.length === 1 ? values.get(key)![0] : values.get(key)!);
  }
}

function pairsOf(flat: readonly unknown[]): [string, unknown][] {
  return Array.from({ length: flat.length >> 1 }, (_, i) => [String(flat[2 * i]), flat[2 * i + 1]]);
}
