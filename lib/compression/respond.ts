import { inTurn } from "../codecs/internal.ts";
import { atEndOfTurn, bytesOf, described, joinBytes } from "../streams/internal.ts";
import {
  type BodyEncoder,
  encodeWhole,
  isWhole,
  lazyEncoder,
  MAX_WRITE_SIZE,
  openBodyEncoder,
  unlessItFails,
  WaitingChunk,
} from "./encoding.ts";
import type { Settings } from "./options.ts";
import { chooseCoding, type Encoding, markEncoded, type ResponseFields } from "./policy.ts";

/** The beginning of a body, already read, and the reader of the rest. */
export interface BodySource {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly begun: readonly WaitingChunk[];
  readonly reading: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
}

/** The result of a read if its source gives no chunk in a turn of the event loop. */
const NO_CHUNK_THIS_TURN: unique symbol = Symbol("paused");

/** The number of microtasks within which bodies of text and bytes can be read, plus a margin. */
const READY_WITHIN = 12;

/** Settles as `reading` does, or with {@linkcode NO_CHUNK_THIS_TURN} if the turn ends first. */
async function inThisTurn<T>(reading: Promise<T>): Promise<T | typeof NO_CHUNK_THIS_TURN> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  reading.then(settle, settle);
  // Avoids the timer, which takes longer than all other steps: 60 of 85 µs on Deno.
  for (let i = 0; i < READY_WITHIN && !isSettled; i++) await undefined;
  if (isSettled) return await reading;
  return await new Promise((resolve, reject) => {
    reading.then(resolve, reject);
    // Waits one more turn, so that chunks delivered by the network in this turn have had their microtasks.
    atEndOfTurn(() => atEndOfTurn(() => resolve(NO_CHUNK_THIS_TURN)));
  });
}

/** Returns a body's compressed form. Whenever the source pauses, the client can decompress all of its chunks so far. */
export function encodedBody(source: BodySource, encoder: BodyEncoder): ReadableStream<Uint8Array> {
  return new globalThis.ReadableStream<Uint8Array>(new EncodedBody(source, encoder), { highWaterMark: 0 });
}

/** Checks a chunk; servers send strings, too. @throws {TypeError} if it is of another type, or its buffer is detached. */
function waitingChunk(chunk: unknown): WaitingChunk {
  if (ArrayBuffer.isView(chunk)) return new WaitingChunk(bytesOf(chunk)!);
  if (typeof chunk === "string") return new WaitingChunk(chunk);
  throw new TypeError(`a response's body must give bytes, not ${described(chunk)}`);
}

/** The encoder that passes a body on unchanged. */
const PLAIN: BodyEncoder = {
  *steps(pieces) {
    for (const piece of pieces) yield new Uint8Array(piece); // copied, since readers may transfer chunks
  },
  flush: () => [],
  finish: () => [],
  close() {},
};

class EncodedBody implements UnderlyingDefaultSource<Uint8Array> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #encoder: BodyEncoder;
  readonly #begun: WaitingChunk[];
  #reading: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  /** The remaining steps of the chunk that is being encoded. */
  #steps: Iterator<Uint8Array, unknown> | undefined;
  /** Whether the encoder contains bytes that were not flushed. */
  #isDirty = false;
  #isCancelled = false;
  /** The source's failure, kept until its bytes before the failure are flushed. */
  #failure: { readonly error: unknown } | undefined;

  constructor({ reader, begun, reading }: BodySource, encoder: BodyEncoder) {
    this.#reader = reader;
    this.#begun = [...begun];
    this.#reading = reading;
    this.#encoder = encoder;
  }

  /** Runs steps until there is output, or the body has ended. */
  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure.error;
      while (!await this.#step(controller));
    } catch (error) {
      if (this.#failure === undefined && this.#isDirty && this.#put(controller, this.#rest())) {
        this.#failure = { error }; // reported by the next pull, since an error drops queued output
        return;
      }
      this.#encoder.close();
      void this.#reader.cancel(error).catch(() => {}); // the source may have failed itself
      throw error;
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.#isCancelled = true;
    this.#encoder.close();
    await this.#reader.cancel(reason);
  }

  /** Encodes a piece of the current chunk, reads the next chunk, or flushes; returns whether there was output. */
  async #step(controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    const steps = this.#steps;
    if (steps !== undefined) {
      const { done, value } = await inTurn(() => steps.next());
      if (this.#isCancelled) return true;
      if (done) this.#steps = undefined;
      return !done && value.length > 0 && this.#put(controller, [value]);
    }
    const chunk = this.#begun.shift();
    if (chunk !== undefined) return this.#take(chunk);
    this.#reading ??= this.#reader.read();
    const read = await (this.#isDirty ? inThisTurn(this.#reading) : this.#reading);
    if (this.#isCancelled) return true;
    if (read === NO_CHUNK_THIS_TURN) return this.#put(controller, this.#flush());
    this.#reading = undefined;
    if (!read.done) return this.#take(waitingChunk(read.value));
    const last = await inTurn(() => this.#encoder.finish());
    if (this.#isCancelled) return true;
    this.#put(controller, last);
    controller.close();
    return true;
  }

  #take(chunk: WaitingChunk): boolean {
    this.#steps = this.#encoder.steps(chunk);
    this.#isDirty = true;
    return false;
  }

  #flush(): Uint8Array[] {
    this.#isDirty = false;
    return this.#encoder.flush();
  }

  /** Returns the output that is still in the encoder; none if the encoder has failed. */
  #rest(): Uint8Array[] {
    try {
      return this.#flush();
    } catch {
      return [];
    }
  }

  #put(controller: ReadableStreamDefaultController<Uint8Array>, output: readonly Uint8Array[]): boolean {
    for (const piece of output) controller.enqueue(piece);
    return output.length > 0;
  }
}

/** The key of a function that returns the response that a framework is going to send: middleware may replace ours. */
const SENT: unique symbol = Symbol.for("@millrace/streams sent") as never;

/** The argument beside a request that `./hono` gives to `fetch()`. */
export interface Sender {
  readonly [SENT]?: () => Response;
}

/** The fields of a `Response`, which itself does not change, except for its `Vary`: its handler may reuse it. */
class HeaderFields implements ResponseFields {
  #headers: Headers;
  /** The request: Bun adds the cookies of its routes to the response only when that is sent. */
  readonly #request: Request & { readonly cookies?: { toSetCookieHeaders?(): string[] } };
  readonly #sender: Sender | undefined;
  /** Changed values by name; undefined for removed fields. */
  readonly #changes = new Map<string, string | undefined>();

  constructor(headers: Headers, request: Request, sender: Sender | undefined) {
    this.#headers = headers;
    this.#request = request;
    this.#sender = sender;
  }

  get(name: string): string | undefined {
    if (this.#changes.has(name)) return this.#changes.get(name);
    const headers = this.#sender?.[SENT]?.().headers ?? this.#headers;
    const value = headers.get(name) ?? undefined;
    return value === undefined && name === "set-cookie" ? this.#request.cookies?.toSetCookieHeaders?.()[0] : value;
  }

  set(name: string, value: string): void {
    this.#changes.set(name, value);
  }

  delete(name: string): void {
    if (this.get(name) !== undefined) this.#changes.set(name, undefined);
  }

  /** Returns `response` with the changes: a new one, unless only its `Vary` changes and its headers are not immutable. */
  giveTo(response: Response): Response {
    const vary = this.#changes.get("vary");
    if (this.#changes.size > Number(vary !== undefined)) return this.make(response, response.body);
    try {
      if (vary !== undefined) response.headers.set("vary", vary);
      return response;
    } catch {
      return this.make(response, response.body);
    }
  }

  /** Makes a response with the changes and another body. */
  make({ status, statusText }: Response, body: BodyInit | null): Response {
    const headers = new Headers(this.#headers); // the Response of @hono/node-server keeps the Headers that it is given
    for (const [name, value] of this.#changes) headers[value === undefined ? "delete" : "set"](name, value!);
    this.#changes.clear();
    const made = new Response(body, { status, statusText, headers });
    this.#headers = made.headers; // fields added to these later count
    return made;
  }
}

/** The status of a connection that has become a WebSocket. Deno's request can no longer be read then. */
export const SWITCHED = 101;

interface Chosen {
  readonly settings: Settings;
  readonly encoding: Encoding;
  readonly fields: HeaderFields;
  readonly response: Response;
}

/** Returns `response` with a compressed body, or unchanged. */
export function compressResponse(settings: Settings, request: Request, response: Response): Response {
  const chosen = choose(settings, request, response, "respond() was given");
  if ("sent" in chosen) return chosen.sent;
  if (request.method === "HEAD") return headOnly(chosen, response.body);
  const { encoding, fields } = chosen;
  const reader: BodySource["reader"] = response.body!.getReader();
  const type = fields.get("content-type");
  const encoder = lazyEncoder(() => {
    try {
      return openBodyEncoder(settings, encoding, type);
    } catch (error) {
      settings.warn(`a response was cut off: ${(error as Error).message}`);
      throw error;
    }
  });
  return encoded(chosen, encodedBody({ reader, begun: [], reading: undefined }, encoder));
}

/** Compresses a response like {@linkcode compressResponse}, but in one call if its body ends within this turn. */
export async function compressReady(
  settings: Settings,
  request: Request,
  response: Response,
  sender?: Sender,
): Promise<Response> {
  const chosen = choose(settings, request, response, "the handler returned", sender);
  if ("sent" in chosen) return chosen.sent;
  if (response.body === null) return headOnly(chosen, null);
  const source = await begin(response.body.getReader());
  const isHead = request.method === "HEAD";
  if (!(source instanceof WaitingChunk)) return isHead ? headOnly(chosen, source.reader) : stream(chosen, source);
  return isHead && source.length === 0 ? headOnly(chosen, null) : whole(chosen, source.bytes);
}

/** Chooses the coding of a response, or returns the response to send. @throws {TypeError} if it is not a `Response`. */
function choose(
  settings: Settings,
  request: Request,
  response: Response,
  source: string,
  sender?: Sender,
): Chosen | { sent: Response } {
  if (typeof (response as Partial<Response> | undefined)?.headers?.get !== "function") {
    throw new TypeError(`Cannot compress what ${source}: ${described(response)} is no Response`);
  }
  const { status } = response;
  if (status === SWITCHED) return { sent: response };
  const fields = new HeaderFields(response.headers, request, sender);
  const { method, url, headers } = request;
  const accepted = headers.get("accept-encoding");
  const exchange = { method, url, accepted, status, request: (name: string) => headers.get(name), fields };
  const encoding = chooseCoding(settings, exchange);
  // The body is read as late as possible: after that, Deno.serve() no longer knows its length.
  if (encoding === undefined || (response.body === null && method !== "HEAD")) return { sent: fields.giveTo(response) };
  if (response.bodyUsed || response.body?.locked) {
    settings.warn("a response is sent as it is: its body has been read already, or is being read");
    return { sent: fields.giveTo(response) };
  }
  return { settings, encoding, fields, response };
}

/** Returns a response to HEAD with an empty stream: with null, servers would send `Content-Length: 0`, unlike for GET. */
function headOnly(chosen: Chosen, unread: Pick<ReadableStream, "cancel"> | null): Response {
  void unread?.cancel().catch(() => {});
  const empty = new globalThis.ReadableStream({ pull: (controller) => controller.close() }, { highWaterMark: 0 });
  return encoded(chosen, empty);
}

/** Reads the available beginning of a body, or all of it, without waiting for more. */
async function begin(reader: BodySource["reader"]): Promise<WaitingChunk | BodySource> {
  const begun: WaitingChunk[] = [];
  let length = 0;
  while (length < MAX_WRITE_SIZE) {
    const reading = reader.read();
    try {
      const read = await inThisTurn(reading);
      if (read === NO_CHUNK_THIS_TURN) return { reader, begun, reading };
      if (read.done && begun.length === 1) return begun[0];
      if (read.done) return new WaitingChunk(joinBytes(begun.map(({ bytes }) => bytes), length));
      const { bytes } = waitingChunk(read.value);
      length += bytes.length;
      // Copied before the next read, at which the source may refill its buffer.
      begun.push(new WaitingChunk(length < MAX_WRITE_SIZE ? new Uint8Array(bytes) : bytes));
    } catch {
      return { reader, begun, reading }; // a failed read fails the next reader of the body, too
    }
  }
  return { reader, begun, reading: undefined };
}

function whole(chosen: Chosen, bytes: Uint8Array): Response {
  const { settings, encoding, fields, response } = chosen;
  // Servers would give the bytes a length of their own: only a stream can end as a body that is too short does.
  if (!isWhole(encoding, bytes.length)) return stream(chosen, sourceOf(bytes));
  const small = bytes.length < settings.threshold
    ? undefined
    : unlessItFails(settings, encoding, () => encodeWhole(settings, encoding, bytes));
  if (small === undefined) return fields.make(response, bytes as BodyInit);
  markEncoded(fields, encoding.coding);
  fields.set("content-length", String(small.length));
  return fields.make(response, small);
}

function sourceOf(bytes: Uint8Array): BodySource {
  const ended = new globalThis.ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  return { reader: ended.getReader(), begun: [new WaitingChunk(bytes)], reading: undefined };
}

function stream(chosen: Chosen, source: BodySource): Response {
  const { settings, encoding, fields, response } = chosen;
  const type = fields.get("content-type");
  const encoder = unlessItFails(settings, encoding, () => openBodyEncoder(settings, encoding, type));
  return encoder ? encoded(chosen, encodedBody(source, encoder)) : fields.make(response, encodedBody(source, PLAIN));
}

function encoded({ encoding, fields, response }: Chosen, body: BodyInit | null): Response {
  markEncoded(fields, encoding.coding);
  return fields.make(response, body);
}
