import { createHash, type Hash } from "node:crypto";
import { ReadableStream } from "../streams/mod.ts";
import { endBytes, integer, requireOption, schema, type SchemaOf, signal, text } from "../streams/internal.ts";
import { TimeLimit } from "../timers/mod.ts";
import { brokenFailure, isPassing, pauseBefore } from "./request/failures.ts";
import { bareTag, objectOf } from "./request/objects.ts";
import type { Store, StoreAnswer } from "./request/store.ts";
import { S3Error, type S3ErrorCode } from "./s3_error.ts";

/**
 * The options of reading an object.
 *
 * @example The first kibibyte of an object as it was
 * ```ts
 * import type { S3ReadOptions } from "@millrace/streams/s3";
 *
 * const options: S3ReadOptions = { range: { start: 0, end: 1024 }, ifMatch: '"9b2cf535f27731c974343645a3985328"' };
 * console.log(options.range!.end); // 1024
 * ```
 */
export interface S3ReadOptions {
  /**
   * The range of bytes to read: from `start`, counted from 0, to before `end`, by default the object's end.
   *
   * @default all bytes
   */
  range?: { start: number; end?: number };
  /** The entity tag that the object must have. */
  ifMatch?: string;
  /** Aborts the read. */
  signal?: AbortSignal;
}

export const rangeOptions: SchemaOf<NonNullable<S3ReadOptions["range"]>> = /* @__PURE__ */ schema(
  "readable()",
  () => ({ start: integer(0, Number.MAX_SAFE_INTEGER), end: integer(1, Infinity) }),
);

export const readOptions: SchemaOf<S3ReadOptions> = /* @__PURE__ */ schema("readable()", () => ({
  range: { fallback: undefined, expected: "an object with start and end", check: checkedRange },
  ifMatch: text(),
  signal: signal(),
}));

function checkedRange(given: unknown, path: string): NonNullable<S3ReadOptions["range"]> {
  const range = rangeOptions(given as object, `${path}.`);
  const start = requireOption(rangeOptions, range, "start", `${path}.`);
  const { end } = range;
  if (end === undefined || end === Infinity) return { start };
  if (end > start) return { start, end };
  throw new RangeError(`${path}.end ${end} is out of range: use a number above ${path}.start, which is ${start}`);
}

export function objectStream(store: Store, key: string, options: S3ReadOptions): ReadableStream<Uint8Array> {
  const reader = new ObjectReader(store, key, options);
  return new ReadableStream<Uint8Array>({
    type: "bytes",
    start: (controller) => reader.watch((reason) => controller.error(reason)),
    async pull(controller) {
      const piece = await reader.read();
      if (piece !== undefined) return controller.enqueue(piece as Uint8Array<ArrayBuffer>);
      endBytes(controller);
    },
    cancel: (reason) => reader.end(reason),
  }, { highWaterMark: 0 });
}

/** Reads an object, and continues at the same position after a broken connection. */
class ObjectReader {
  readonly #store: Store;
  readonly #key: string;
  readonly #options: S3ReadOptions;
  #body: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined;
  #position: number;
  /** The end of the bytes to read; undefined until the store has reported the size. */
  #end: number | undefined = undefined;
  #size: number | undefined = undefined;
  #etag: string | undefined;
  #hash: Hash | undefined = undefined;
  #sha256: string | undefined = undefined;
  #breaks = 0;
  #unwatch: () => void = () => {};

  constructor(store: Store, key: string, options: S3ReadOptions) {
    this.#store = store;
    this.#key = key;
    this.#options = options;
    this.#position = options.range?.start ?? 0;
    this.#etag = options.ifMatch;
  }

  /** Ends the reader, and calls `onAbort`, when the signal is aborted. */
  watch(onAbort: (reason: unknown) => void): void {
    const { signal } = this.#options;
    const abort = (): void => {
      onAbort(signal!.reason);
      void this.end(signal!.reason);
    };
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    this.#unwatch = () => signal?.removeEventListener("abort", abort);
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      try {
        if (this.#end === this.#position) {
          await this.end(undefined);
          if (this.#hash === undefined || this.#hash.digest("base64") === this.#sha256) return undefined;
          throw this.#failure("CHECKSUM_MISMATCH", "the bytes are not those that were stored");
        }
        this.#body ??= await this.#open();
        if (this.#end === this.#position) continue; // an empty object
        const piece = await this.#next(this.#body);
        if (piece !== undefined) return piece;
      } catch (error) {
        await this.end(error);
        throw error;
      }
    }
  }

  async end(reason: unknown): Promise<void> {
    this.#unwatch();
    const body = this.#body;
    this.#body = undefined;
    await body?.cancel(reason).catch(() => {}); // the connection may already have failed
  }

  async #next(body: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
    const deadline = new TimeLimit(this.#store.timeout, this.#options.signal, this.#store.closing);
    let failure: unknown;
    try {
      const { done, value } = await deadline.within(body.read());
      if (!done) return value.length > 0 ? this.#taken(value) : undefined;
      failure = this.#failure("CONNECTION_FAILED", "the answer ended before the object did");
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (error instanceof S3Error) throw error;
      failure = this.#store.closing.aborted
        ? this.#failure("CLOSED", "the bucket was closed", error)
        : deadline.isOver
        ? this.#failure("TIMEOUT", "the store sent nothing for too long", error)
        : this.#failure("CONNECTION_FAILED", error instanceof Error ? error.message : String(error), error);
    } finally {
      deadline.stop();
    }
    this.#body = undefined;
    body.cancel(failure).catch(() => {}); // a broken connection
    if (this.#breaks++ >= this.#store.retries || !isPassing(failure)) throw failure;
    await this.#store.pause(pauseBefore(this.#breaks - 1, failure), this.#options.signal);
    return undefined;
  }

  #taken(piece: Uint8Array): Uint8Array {
    const left = this.#end! - this.#position;
    if (piece.length > left) throw this.#failure("MALFORMED_RESPONSE", "the store sent more than was asked for");
    this.#breaks = 0;
    this.#position += piece.length;
    this.#hash?.update(piece);
    return piece;
  }

  async #open(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const { range, signal } = this.#options;
    const isPart = range !== undefined || this.#position > 0;
    const end = this.#end ?? range?.end;
    try {
      return await this.#store.send({
        method: "GET",
        action: "read",
        key: this.#key,
        headers: {
          ...(isPart && { range: `bytes=${this.#position}-${end === undefined ? "" : end - 1}` }),
          ...(this.#etag !== undefined && { "if-match": this.#etag }),
          ...(!isPart && this.#store.checksums && { "x-amz-checksum-mode": "ENABLED" }),
        },
        signal,
      }, (answer) => Promise.resolve(this.#begin(answer, isPart)));
    } catch (error) {
      const isOther = error instanceof S3Error && error.status === 412;
      if (isOther) throw this.#failure("OBJECT_CHANGED", "the object is another now", error);
      throw error;
    }
  }

  #begin(answer: StoreAnswer, isPart: boolean): ReadableStreamDefaultReader<Uint8Array> {
    const { response } = answer;
    if (isPart !== (response.status === 206)) {
      throw answer.malformed(`the store answers ${response.status} to a request for a range or all`);
    }
    const { size, etag, sha256 } = objectOf(this.#key, answer);
    // Compared here, too, since some stores ignore If-Match.
    const asked = this.#etag ?? "*";
    const isOther = (this.#size ?? size) !== size || (asked !== "*" && bareTag(asked) !== bareTag(etag));
    if (isOther) throw this.#failure("OBJECT_CHANGED", "the object is another now");
    const end = this.#end ?? Math.min(this.#options.range?.end ?? Infinity, size);
    const range = `bytes ${this.#position}-${end - 1}/${size}`;
    if (isPart && answer.field("content-range") !== range) {
      throw answer.malformed(`the store sends other bytes than ${range}`);
    }
    // The checksum of an object stored in parts is not that of its bytes.
    if (this.#size === undefined && !isPart && sha256 !== undefined && !sha256.includes("-")) {
      this.#sha256 = sha256;
      this.#hash = createHash("sha256");
    }
    this.#end = end;
    this.#size = size;
    this.#etag = etag;
    return response.body?.getReader() ?? new ReadableStream<Uint8Array>({ start: (c) => c.close() }).getReader();
  }

  #failure(code: S3ErrorCode, reason: string, cause?: unknown): S3Error {
    return brokenFailure(this.#store.subjectOf({ action: "read", key: this.#key }), code, reason, cause);
  }
}
