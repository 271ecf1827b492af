import { setImmediate } from "node:timers";
import { joinBytes } from "../../streams/internal.ts";
import type { RequestBody } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import { type BodySource, StreamBody } from "./stream_body.ts";
import { BytesBody } from "./request_body.ts";

/** The most bytes that are read ahead. */
const MOST_AHEAD = 1024 * 1024;
/** Turns of the event loop in which nothing comes before a body counts as a stream. */
const PATIENCE = 3;

const LATE = Symbol();

/**
 * The body of a Request, which shows a stream whatever it was made of. It is read ahead before the request is sent: one that is there at
 * once, as a text is, is sent with its length, and again if need be. One that takes its time, or is large, is sent as the stream that it
 * is, with its beginning.
 */
export class RequestContent implements BodySource {
  readonly length = undefined;
  readonly replayable = false;
  readonly #stream: StreamBody;
  #settled: Promise<BodySource> | undefined = undefined;
  #isOpen = false;

  /** @param stream Taken over. */
  constructor(stream: StreamBody) {
    this.#stream = stream;
  }

  open(): RequestBody {
    this.#isOpen = true;
    return this.#stream;
  }

  /**
   * Reads ahead; gives what is to be sent in this one's place. Never rejects: what fails does so again when it is sent. An interceptor
   * may have it sent again: then it is only bytes that there are another time.
   */
  async settle(): Promise<BodySource> {
    const isFirst = this.#settled === undefined;
    const body = await (this.#settled ??= this.#readAhead());
    return !this.#isOpen && (isFirst || body.replayable) ? body : SPENT;
  }

  async #readAhead(): Promise<BodySource> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    while (size <= MOST_AHEAD) {
      const next = this.#stream.read();
      const piece = await Promise.race([next, turns(PATIENCE)]).catch(() => LATE);
      if (piece === undefined) return new BytesBody(pieces.length === 1 ? pieces[0] : joinBytes(pieces, size));
      if (typeof piece === "symbol") return new BegunBody(pieces, next, this.#stream);
      pieces.push(piece.slice()); // it is the stream's to use again once the next is asked for
      size += piece.length;
    }
    return new BegunBody(pieces, undefined, this.#stream);
  }
}

/** The content of a Request that was sent before, or given up. */
const SPENT: BodySource = {
  length: undefined,
  replayable: false,
  open() {
    throw new HttpError("INVALID_BODY", "The body of the Request cannot be sent twice: it is a stream, or large");
  },
};

/** Contents of Requests that interceptors may have sent more than once, by their streams; null before the first time. */
const kept = new WeakMap<object, RequestContent | null>();

/** Says that a stream is the body of a Request. */
export function keepContent(stream: object): void {
  if (!kept.has(stream)) kept.set(stream, null);
}

/**
 * The content of a Request whose body a stream is; undefined of all else.
 *
 * @throws {HttpError} INVALID_BODY if somebody reads the stream.
 */
export function keptContent(stream: unknown): RequestContent | undefined {
  const known = kept.get(stream as object);
  if (known !== null) return known;
  const content = new RequestContent(new StreamBody(stream as ReadableStream<Uint8Array>, undefined));
  kept.set(stream as object, content);
  return content;
}

/** A stream of which a part was read. */
class BegunBody implements BodySource, RequestBody {
  readonly length = undefined;
  readonly bytes = undefined;
  readonly replayable = false;
  readonly #pieces: Uint8Array[];
  #next: Promise<Uint8Array | undefined> | undefined;
  readonly #rest: RequestBody;

  constructor(pieces: Uint8Array[], next: Promise<Uint8Array | undefined> | undefined, rest: RequestBody) {
    this.#pieces = pieces;
    this.#next = next;
    this.#rest = rest;
    next?.catch(() => {}); // told to who reads, if anybody does
  }

  open(): RequestBody {
    return this;
  }

  read(): Promise<Uint8Array | undefined> {
    const piece = this.#pieces.shift();
    if (piece !== undefined) return Promise.resolve(piece);
    const next = this.#next ?? this.#rest.read();
    this.#next = undefined;
    return next;
  }

  cancel(reason: unknown): void {
    this.#pieces.length = 0;
    this.#rest.cancel(reason);
  }
}

async function turns(count: number): Promise<typeof LATE> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => void setImmediate(resolve));
  return LATE;
}
