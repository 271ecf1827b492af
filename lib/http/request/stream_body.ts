import { isUint8Array } from "../../streams/internal.ts";
import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import type { RequestBody } from "../connection.ts";
import { claim, isDisturbed, peek } from "../../runtime/mod.ts";
import { HttpError, takenBack } from "../http_error.ts";

export interface BodySource {
  readonly length: number | undefined;
  readonly replayable: boolean;
  open(): RequestBody;
  /** Finds out before the first use how the body is to be sent: resolves with its replacement, or undefined. Rejects with an HttpError. */
  settle?(): Promise<BodySource> | undefined;
}

export interface ExtractedBody {
  readonly source: BodySource;
  /** The body's content type, unless the headers have one. */
  readonly type: string | undefined;
}

type Piece = Uint8Array | string;

type Chunks = ReadableStream<Uint8Array> | AsyncIterable<Piece> | Iterable<Piece>;

interface Puller {
  next(): Promise<{ done?: boolean; value?: unknown }>;
  stop(reason: unknown): Promise<unknown>;
}

export class StreamBody implements BodySource, RequestBody {
  readonly bytes = undefined;
  readonly replayable = false;
  readonly length: number | undefined;
  readonly #puller: Puller;
  #bytesRead = 0;
  #hasEnded = false;
  /** The result of the requested piece, if it is not taken yet. */
  #ahead: ReturnType<Puller["next"]> | undefined = undefined;

  /** Takes a stream over: locks it at once, but reads nothing. @throws {HttpError} INVALID_BODY if it is locked, was read, or was sent before. */
  constructor(chunks: Chunks, length: number | undefined) {
    requireUnlocked(chunks);
    if (isDisturbed(chunks)) throw wasRead();
    this.#puller = pullerOf(chunks);
    this.length = length;
  }

  static isReadable(value: object): value is Chunks {
    return typeof (value as Partial<ReadableStream>).getReader === "function" ||
      Symbol.asyncIterator in value || Symbol.iterator in value;
  }

  open(): RequestBody {
    return this;
  }

  /** Whether the body is empty, if the runtime shows that without waiting. */
  endsAtOnce(): boolean {
    this.#ahead = this.#puller.next();
    this.#ahead.catch(() => {}); // a failure is reported when it is read
    return peek(this.#ahead)?.done === true;
  }

  async read(): Promise<Uint8Array | undefined> {
    while (!this.#hasEnded) {
      let result;
      try {
        const next = this.#ahead ?? this.#puller.next();
        this.#ahead = undefined;
        result = await next;
      } catch (cause) {
        if (this.#hasEnded) return undefined; // the cancellation caused the error
        this.#hasEnded = true;
        const message = `The request's body failed: ${cause instanceof Error ? cause.message : String(cause)}`;
        throw new HttpError("BODY_FAILED", message, { cause });
      }
      if (this.#hasEnded) return undefined; // the body was cancelled meanwhile
      if (result.done) {
        this.#hasEnded = true;
        if (this.length === undefined || this.#bytesRead === this.length) return undefined;
        const said = `The request's body ended after ${this.#bytesRead} bytes, and content-length says ${this.length}`;
        throw new HttpError("BODY_FAILED", said);
      }
      const chunk = this.#checked(result.value);
      if (chunk.length > 0) return chunk;
    }
    return undefined;
  }

  cancel(reason: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#puller.stop(reason).catch(() => {}); // a later failure of the source is ignored
  }

  #checked(value: unknown): Uint8Array {
    if (!isUint8Array(value)) {
      const kind = typeof value === "object" ? Object.prototype.toString.call(value) : typeof value;
      const advice = typeof value === "string" ? "pipe it through a TextEncoderStream" : "enqueue Uint8Arrays";
      throw this.#refuse(`The request's body gave a chunk that is no Uint8Array but ${kind}: ${advice}`);
    }
    if (value.length === 0 && (value.buffer as ArrayBuffer).detached) throw this.#refuse(takenBack());
    this.#bytesRead += value.length;
    if (this.length !== undefined && this.#bytesRead > this.length) {
      throw this.#refuse(`The request's body has more than the ${this.length} bytes that content-length says`);
    }
    // The view is empty once its memory was transferred or shrunk, where a view of a growing buffer would be shorter.
    return new Uint8Array(value.buffer, value.byteOffset, value.length);
  }

  #refuse(why: string | HttpError): HttpError {
    const error = typeof why === "string" ? new HttpError("BODY_FAILED", why) : why;
    this.cancel(error);
    return error;
  }
}

/** @throws {HttpError} INVALID_BODY if a stream is locked. */
export function requireUnlocked(stream: object): void {
  if ((stream as Partial<ReadableStream>).locked !== true) return;
  throw new HttpError("INVALID_BODY", "The body cannot be sent: its stream is locked, so something else reads it");
}

function wasRead(): HttpError {
  return new HttpError("INVALID_BODY", "The body cannot be sent: somebody has read of its stream already");
}

function pullerOf(chunks: Chunks): Puller {
  let iterator: AsyncIterator<Piece> | Iterator<Piece>;
  try {
    if ("getReader" in chunks) {
      const reader = chunks.getReader();
      return { next: () => reader.read(), stop: async (reason) => await reader.cancel(reason) };
    }
    iterator = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HttpError("INVALID_BODY", `The body cannot be sent: it cannot be read: ${reason}`, { cause });
  }
  // A stream of Node has a new iterator for each caller, but one content.
  const source = "readableDidRead" in chunks ? chunks as Readable : undefined;
  if (!claim(source ?? iterator)) throw wasRead();
  // The iterator neither sees errors nor ends the stream before the first piece was pulled, or while one is awaited.
  source?.on("error", () => {});
  const isSpared = source !== undefined && answersToo(source);
  if (isSpared && typeof source.iterator === "function") iterator = source.iterator({ destroyOnReturn: false });
  const stop = async (): Promise<unknown> => source && !isSpared ? source.destroy() : await iterator.return?.();
  const next: Puller["next"] = async () => {
    const { done, value } = await iterator.next();
    return { done, value: typeof value === "string" ? Buffer.from(value) : value }; // a stream of Node with an encoding yields texts
  };
  return { next, stop };
}

/** Whether the stream's owner responds on it, or on its connection, even if the call fails; false for a Transform, a child's output or a client's response. */
function answersToo(source: Readable): boolean {
  const { writable, writableEnded, remoteAddress, server, connecting } = source as Partial<
    Socket & { server: unknown }
  >;
  if ("httpVersion" in source) return !(source as Partial<IncomingMessage>).statusCode;
  // A child's output is a socket without a peer on Node, and one that was never writable on Deno.
  const isPipe = "remoteAddress" in source && !remoteAddress && !server && !connecting;
  return "write" in source && !("_transform" in source) && !(writable === false && !writableEnded) && !isPipe;
}
