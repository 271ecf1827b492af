import type { EventEmitter } from "node:events";
import process from "node:process";
import type { Writable } from "node:stream";
import { type BatchedUnderlyingSink, BatchedWritableStream } from "../batch/mod.ts";
import { atEndOfTurn, Deferred, number, schema, type SchemaOf } from "../streams/internal.ts";
import type { WritableStreamDefaultController } from "../streams/mod.ts";
import {
  areLarge,
  type Bridge,
  joinChunks,
  lengthOf,
  listen,
  prematureClose,
  requireMethods,
  toError,
} from "./bridge.ts";

/** The members of an http2 stream used here, on either side of a connection. */
interface Http2End extends EventEmitter {
  readonly destroyed: boolean;
  readonly headRequest?: boolean;
  readonly headersSent: boolean;
  readonly rstCode?: number;
  readonly sentHeaders?: Record<string, unknown>;
  readonly writableEnded: boolean;
}

/** The encoding of strings, whatever a writable's default, since batches may convert them to bytes. */
const UTF_8 = "utf8";
const WITHOUT_BODY: readonly unknown[] = [204, 205, 304];

/** Returns the http2 stream of a writable, which may be that stream or an Http2ServerResponse. */
function http2EndOf(writable: Writable): Http2End | undefined {
  if ("rstCode" in writable) return writable as unknown as Http2End;
  const { stream } = writable as { stream?: unknown };
  return typeof stream === "object" && stream !== null && "rstCode" in stream ? stream as Http2End : undefined;
}

/** Whether a response must not have a body. http2 fails on writes to such a response, http ignores them. */
function isWithoutBody(end: Http2End, writable: Writable): boolean {
  if (end.headRequest) return true;
  const sent = end.headersSent ? end.sentHeaders?.[":status"] : undefined;
  return WITHOUT_BODY.includes(sent ?? (writable as { statusCode?: number }).statusCode);
}

/** Codes of writes that were dropped because their stream was destroyed: another error has the cause. */
const DROPPED: readonly unknown[] = [
  "ECANCELED",
  "ERR_STREAM_DESTROYED",
  "ERR_SOCKET_CLOSED",
  "ERR_HTTP2_INVALID_STREAM",
];

/**
 * Writes batches to a writable, each after the callback of the last, so that chunks are acknowledged once they are
 * written. Destroys the writable only on an abort, or if its own write or end fails, since other code may share and end
 * the writable.
 */
class WritableSink implements BatchedUnderlyingSink<unknown>, Bridge {
  readonly stream: BatchedWritableStream<unknown>;
  readonly highWaterMark: number;
  readonly maxBatch: number;
  readonly #writable: Writable;
  readonly #http2: Http2End | undefined;
  /** The emitter of the writable's events. An Http2ServerResponse emits `finish` even if it was reset. */
  readonly #events: EventEmitter;
  readonly #isStandardOutput: boolean;
  #controller: WritableStreamDefaultController = undefined as never; // assigned by start()
  /** The promise of the running batch, or of the end. */
  #pending: Deferred<void> | undefined = undefined;
  /** Whether aborts are observed while a write is pending. Signals for all streams would make a page a tenth larger. */
  #seesAborts = false;
  #isEnding = false;
  #stopListening: () => void = () => {};
  /** Whether the writable has finished or failed, or this sink has given it up. */
  #isOver = false;

  constructor(writable: Writable, highWaterMark: number) {
    const isObjectMode = writable.writableObjectMode;
    this.highWaterMark = highWaterMark;
    this.maxBatch = Math.max(highWaterMark / 2 || 0, isObjectMode ? 1 : MIN_BATCH);
    this.#writable = writable;
    this.#http2 = http2EndOf(writable);
    this.#events = this.#http2 ?? writable;
    this.#isStandardOutput = isStandardOutput(writable);
    this.stream = new BatchedWritableStream<unknown>(
      this,
      isObjectMode ? { highWaterMark } : { highWaterMark, size: lengthOf },
    );
  }

  /** Whether the next caller can reuse the stream: it is unlocked, and the writable open. */
  get isFree(): boolean {
    const { destroyed, writableEnded } = this.#writable;
    return !this.stream.locked && !this.#isOver && !destroyed && !writableEnded;
  }

  start(controller: WritableStreamDefaultController): void {
    this.#controller = controller;
    const writable = this.#writable;
    if (writable.writableEnded && this.#isWithoutBody()) {
      this.#isOver = true;
    } else if (writable.destroyed || writable.closed || writable.writableEnded || this.#http2?.destroyed) {
      this.#isOver = true;
      const state = writable.writableEnded ? "has ended" : "is destroyed";
      controller.error(prematureClose(`Cannot write: the writable ${state}`, writable.errored));
    } else {
      this.#stopListening = listen(this.#events, "finish", this);
    }
  }

  /** Writes a batch; ends the writable with the last one, so that an HTTP response can be one packet with a length. */
  writev(chunks: unknown[], _controller?: WritableStreamDefaultController, isLast = false): Promise<void> | undefined {
    if (this.#isWithoutBody()) return undefined;
    const pending = this.#begin();
    try {
      if (this.#writable.writableEnded) this.#error(endedByOthers());
      else if (this.#writable.writableObjectMode) this.#writeEach(chunks);
      else if (isLast && !this.#isStandardOutput) this.#end(joinChunks(chunks));
      else if (chunks.length > 1 && areLarge(chunks)) this.#writeEach(chunks);
      else this.#writable.write(joinChunks(chunks), UTF_8, this.#onWritten);
    } catch (error) {
      this.#fail(error);
    }
    return pending.promise;
  }

  close(): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    if (this.#isStandardOutput || this.#isWithoutBody()) {
      this.#isOver = true;
      if (this.#isStandardOutput) this.#stopListening();
      else this.#writable.end(); // it has finished already, for http2
      return undefined;
    }
    const pending = this.#begin();
    try {
      if (this.#writable.writableEnded) this.#error(endedByOthers());
      else this.#end(undefined);
    } catch (error) {
      this.#fail(error); // for example a response whose body is shorter than its strict Content-Length
    }
    return pending.promise;
  }

  abort(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pending?.reject(reason);
    if (!this.#isStandardOutput) this.#writable.destroy(toError(reason, "The stream was aborted"));
    else if (this.#pending === undefined) this.#stopListening(); // otherwise it may still fail
  }

  #isWithoutBody(): boolean {
    return this.#http2 !== undefined && isWithoutBody(this.#http2, this.#writable);
  }

  #begin(): Deferred<void> {
    if (!this.#seesAborts) {
      this.#seesAborts = true;
      atEndOfTurn(this.#onEndOfTurn);
    }
    return this.#pending = new Deferred<void>();
  }

  /** Listens for an abort if a write is still pending, which is rare: otherwise the write might delay the abort for ever. */
  readonly #onEndOfTurn = (): void => {
    this.#seesAborts = this.#pending !== undefined;
    if (!this.#seesAborts || this.#isOver) return;
    const { signal } = this.#controller;
    if (signal.aborted) this.abort(signal.reason);
    else signal.addEventListener("abort", () => this.abort(signal.reason));
  };

  #writeEach(chunks: readonly unknown[]): void {
    const writable = this.#writable;
    writable.cork();
    const last = chunks.length - 1;
    for (let i = 0; i < last; i++) writable.write(chunks[i]);
    writable.write(chunks[last], this.#onWritten);
    writable.uncork();
  }

  #end(chunk: string | Uint8Array | undefined): void {
    this.#isEnding = true;
    if (chunk === undefined) this.#writable.end();
    else this.#writable.end(chunk, UTF_8);
  }

  readonly #onWritten = (error?: Error | null): void => {
    if (this.#isOver && this.#isStandardOutput) {
      if (!error) this.#stopListening(); // otherwise an error event follows, and its listener stays until `close`
    } else if (error) {
      const { code } = error as { code?: unknown };
      this.#fail(DROPPED.includes(code) ? this.#leftError(error) : error);
    } else if (this.#http2?.rstCode) {
      this.#fail(this.#leftError(undefined)); // a stream that was reset reports that all bytes are written
    } else {
      this.#settle();
    }
  };

  onEnd(): void {
    if (this.#isOver || this.#isWithoutBody()) return;
    if (this.#http2?.rstCode) {
      this.#fail(this.#leftError(undefined));
    } else if (this.#isEnding) {
      this.#isOver = true;
      this.#settle();
    } else {
      this.#settle(); // the bytes in flight are written
      this.#error(endedByOthers());
    }
  }

  onError(error: unknown): void {
    if (this.#pending === undefined) this.#error(error);
    else this.#fail(error);
  }

  onClose(): void {
    if (!this.#isOver) this.#error(this.#leftError(undefined));
  }

  /** Errors the stream, and rejects the pending write. */
  #error(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.error(error);
    this.#pending?.reject(error);
  }

  /** Errors the stream, and destroys the writable, which no other code ends after a failed `write()` or `end()`. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#error(error);
    if (!this.#isStandardOutput) this.#writable.destroy(toError(error, "The stream failed"));
  }

  #leftError(error: unknown): Error {
    const cause = this.#writable.errored ?? error;
    return prematureClose("Cannot write: the writable was destroyed before the stream was closed", cause);
  }

  #settle(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve();
  }
}

function endedByOthers(): Error {
  return prematureClose("Cannot write: the writable was ended before the stream was closed", undefined);
}

/** Whether a writable is standard output or error, which stay open, as in `pipeline()` of `node:stream`, since other code writes to them. */
function isStandardOutput(writable: Writable): boolean {
  const { fd } = writable as { fd?: unknown };
  if (fd === 1) return writable === process.stdout as unknown;
  return fd === 2 && writable === process.stderr as unknown;
}

/**
 * Options of {@linkcode fromNodeWritable}.
 *
 * @example Objects, two of which may wait
 * ```ts
 * import { fromNodeWritable, type FromNodeWritableOptions } from "@millrace/streams/node";
 * import { Writable } from "node:stream";
 *
 * const options: FromNodeWritableOptions = { highWaterMark: 2 };
 * const rows = new Writable({ objectMode: true, write: (_row, _encoding, done) => done() });
 * console.log(fromNodeWritable(rows, options).getWriter().desiredSize); // 2
 * ```
 */
export interface FromNodeWritableOptions {
  /**
   * The maximum of queued and in-flight data: in bytes, with the length of strings, or in chunks for a writable in
   * object mode. A write takes at most half of it, so that the other half can be filled meanwhile.
   *
   * @default 131,072, or 1,024 in object mode
   */
  highWaterMark?: number;
}

export const fromNodeWritableOptions: SchemaOf<FromNodeWritableOptions> = /* @__PURE__ */ schema(
  "fromNodeWritable()",
  () => ({ highWaterMark: number(0, Infinity) }),
);

const BYTES = 128 * 1024;
const OBJECTS = 1024;
const METHODS = ["write", "end", "cork", "uncork", "destroy", "on", "off"];
/** The property of a writable for its latest bridge: a WeakMap would make a page a tenth larger. */
const BRIDGE: unique symbol = Symbol("millrace, writable");
/** The minimum limit of a batch with a low high-water mark; relevant only if writers ignore backpressure. */
const MIN_BATCH = BYTES / 8;

/**
 * Converts a writable of `node:stream` to a WritableStream: a response of `node:http` or `node:http2`, a socket, a
 * file, standard output.
 *
 * Chunks of one turn of the event loop are written in one `write()`: bytes and strings are joined, objects and large
 * chunks written one by one between `cork()` and `uncork()`. Meanwhile further chunks queue for the next `write()`. A
 * chunk is a string, an ArrayBuffer or a view of one; in object mode, any value. Write strings without encoding them:
 * encoding a chunk costs more than writing it. If the stream closes with its only batch, a response without sent
 * headers is sent whole, with a `content-length`.
 *
 * A `write()` fulfils when the writable has called back, which happens once the system has the bytes. Closing the
 * stream ends the writable, and waits until it has finished; process.stdout and process.stderr stay open. If the
 * writable fails, or closes because the client left, the stream errors at once, so that a pipe into it cancels its
 * source.
 *
 * Only an abort, or a failed write of this stream, destroys the writable. After a pipe with `preventClose`, other code
 * may end the writable: all written chunks are sent. A stream that is still in use then errors with its next write, or
 * at the latest when the writable has finished.
 *
 * Like every pipe, one that its `signal` stops first waits for the batch in flight. To disconnect a client that does
 * not read, destroy the writable.
 *
 * While the stream is open and unlocked, further calls for the same writable return it again.
 *
 * @param writable The destination. No other code should write to it meanwhile.
 * @throws {TypeError} if `writable` is not a writable stream of Node.
 * @throws {RangeError} if `highWaterMark` is negative or NaN.
 * @example Render a page into a response
 * ```ts
 * import { fromNodeWritable } from "@millrace/streams/node";
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { createServer } from "node:http";
 *
 * const server = createServer((_request, response) => {
 *   const page = ReadableStream.from(["<!doctype html>", "<title>A page</title>"]);
 *   page.pipeTo(fromNodeWritable(response)).catch(() => {}); // the visitor has left
 * });
 * server.listen(0, () => server.close());
 * ```
 */
// deno-lint-ignore no-explicit-any -- as in the platform's own types, chunks have any type by default
export function fromNodeWritable<W = any>(
  writable: Writable,
  options: FromNodeWritableOptions = {},
): BatchedWritableStream<W> {
  requireMethods(writable, "the writable", "a writable stream of node:stream", METHODS);
  const { highWaterMark = writable.writableObjectMode ? OBJECTS : BYTES } = fromNodeWritableOptions.check(options);
  const bridged = writable as { [BRIDGE]?: WritableSink };
  const isKnown = bridged[BRIDGE]?.isFree && bridged[BRIDGE].highWaterMark === highWaterMark;
  if (!isKnown) bridged[BRIDGE] = new WritableSink(writable, highWaterMark);
  return bridged[BRIDGE]!.stream as BatchedWritableStream<W>;
}
