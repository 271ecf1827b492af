import { Buffer } from "node:buffer";
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import process from "node:process";
import type { Encoder } from "../codecs/internal.ts";
import { atEndOfTurn } from "../streams/internal.ts";
import { encodeWhole, openBodyEncoder, unlessItFails } from "./encoding.ts";
import type { CompressionCoding, Settings } from "./options.ts";
import { chooseCoding, markEncoded, type ResponseFields } from "./policy.ts";

type Written = (error?: Error | null) => void;

/** The methods of a response that are replaced. Their overloads are told apart by {@linkcode argumentsOf}. */
interface Methods {
  write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean;
  end(chunk?: unknown, encoding?: unknown, callback?: unknown): unknown;
  writeHead(status: number, ...rest: unknown[]): unknown;
  flushHeaders(): void;
}

/** Has what is written to `res` compressed, if its head allows it when that is written. */
export function compressNode(settings: Settings, req: IncomingMessage, res: ServerResponse): void {
  if (!res.headersSent && !res.writableEnded) new NodeResponse(settings, req, res).replaceMethods();
}

/** The fields of a response of `node:http` or `node:http2`. */
class NodeFields implements ResponseFields {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  get(name: string): string | undefined {
    const value = this.#res.getHeader(name);
    return Array.isArray(value) ? value.join(", ") : value === undefined ? undefined : String(value);
  }

  set(name: string, value: string): void {
    this.#res.setHeader(name, value);
  }

  delete(name: string): void {
    this.#res.removeHeader(name);
  }
}

/** A response whose writes go through an encoder. */
class NodeResponse {
  readonly #settings: Settings;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #plain: Methods;
  #isDecided = false;
  #coding: CompressionCoding | undefined;
  /** For a body that is written in pieces. */
  #encoder: Encoder | undefined;
  /** The body's compressed form, if all of it was given to `end()`. */
  #whole: Uint8Array | undefined;
  #isEnded = false;
  /** Callbacks of writes whose output is still in the encoder. */
  readonly #waiting: Written[] = [];
  #willFlush = false;
  #needsDrain = false;

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
    res.on("drain", () => this.#needsDrain = false);
    res.once("close", () => this.#encoder?.close());
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
    const { method = "GET", url = "", headers } = this.#req;
    const accepted = headers["accept-encoding"] as string | undefined;
    const exchange = { method, url, accepted, status: res.statusCode, fields };
    const coding = chooseCoding(settings, exchange, body instanceof Uint8Array ? body.length : undefined);
    if (coding === undefined) return;
    if (method === "HEAD") return markEncoded(fields, coding);
    if (body === "piece") {
      this.#encoder = unlessItFails(settings, coding, () => this.#open(coding));
      if (this.#encoder === undefined) return;
    }
    if (body instanceof Uint8Array) {
      this.#whole = unlessItFails(settings, coding, () => encodeWhole(settings, coding, body));
      if (this.#whole === undefined) return;
    }
    this.#coding = coding;
    markEncoded(fields, coding);
    if (this.#whole) fields.set("content-length", String(this.#whole.length));
  }

  #writeHead(status: number, ...rest: unknown[]): unknown {
    if (this.#res.headersSent) return this.#plain.writeHead(status, ...rest); // which throws
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
    if (bytes === undefined || this.#coding === undefined || this.#isEnded) {
      return this.#plain.write(chunk, encoding, written); // what cannot be written throws there
    }
    try {
      this.#encoder ??= this.#open(this.#coding);
      this.#put(this.#encoder.write(bytes), written);
    } catch (error) {
      return this.#fail(error);
    }
    this.#flushSoon();
    return !this.#needsDrain;
  }

  #end(...given: readonly unknown[]): unknown {
    const { chunk, encoding, written } = argumentsOf(given);
    const bytes = chunk === undefined || chunk === null ? new Uint8Array(0) : bytesOf(chunk, encoding);
    if (bytes !== undefined) this.#decide(bytes);
    if (bytes === undefined || this.#coding === undefined || this.#isEnded) {
      return this.#plain.end(...given);
    }
    this.#isEnded = true;
    try {
      const output = this.#encoder === undefined
        ? [this.#whole ?? encodeWhole(this.#settings, this.#coding, bytes)]
        : [...this.#encoder.write(bytes), ...this.#encoder.finish()];
      const last = output.pop();
      this.#put(output);
      if (written !== undefined) this.#waiting.push(written);
      return this.#plain.end(last, undefined, this.#takeWaiting());
    } catch (error) {
      this.#fail(error);
      return this.#res;
    }
  }

  /** @throws {RangeError} if memory runs out. */
  #open(coding: CompressionCoding): Encoder {
    return openBodyEncoder(this.#settings, coding, new NodeFields(this.#res).get("content-type"));
  }

  #flush(): void {
    if (this.#encoder === undefined || this.#isEnded || this.#res.destroyed) return;
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
      const isWritten = this.#plain.write(piece, undefined, i === output.length - 1 ? this.#takeWaiting() : undefined);
      if (!isWritten) this.#needsDrain = true;
    }
  }

  /** Returns one callback for all that wait. */
  #takeWaiting(): Written | undefined {
    if (this.#waiting.length === 0) return undefined;
    const waiting = this.#waiting.splice(0);
    return (error) => waiting.forEach((written) => written(error));
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
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk !== "string" || (encoding && !Buffer.isEncoding(encoding))) return undefined;
  return Buffer.from(chunk, encoding);
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
