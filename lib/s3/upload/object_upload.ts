import { fieldsOf, type S3Stored, type S3WritableSettings } from "../s3_object.ts";
import { putObject } from "../request/objects.ts";
import type { Store } from "../request/store.ts";
import { S3Error } from "../s3_error.ts";
import { GatheredPart, requireLength, type Storage } from "./gathered_part.ts";
import { abortUpload, completeUpload, createUpload, ONCE, putPart, type StoredPart } from "./multipart.ts";

const MIB = 2 ** 20;
export const MAX_PARTS: number = 10_000;
const FIRST_SIZE = 8 * MIB;
/** The minimum bytes of any part except the last. */
export const MIN_PART_SIZE: number = 5 * MIB;
/** The number of leading parts of one size; R2 requires one size for all. */
const EVEN_PARTS = 8000;
/** The number of equal parts in each run after the first 8,000, and the factor between the parts of two runs. */
const RUN = 1000;
const GROWTH = 16;

/** Returns the size of at most `parts` parts of an object, as small as possible, since an upload keeps parts in memory. */
export function partSizeFor(size: number, parts: number = EVEN_PARTS): number {
  return Math.max(FIRST_SIZE, Math.ceil(size / parts / MIB) * MIB);
}

/** Returns the size of a part. In uploads that exceed the planned length, parts grow, so that 10,000 make 2 TiB or more. */
function partSize(number: number, first: number): number {
  return first * GROWTH ** Math.max(0, Math.ceil((number - EVEN_PARTS) / RUN));
}

export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a permit. @throws {unknown} the reason of `signal` once that is aborted. */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) return void this.#free--;
    const { promise: taken, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      if (this.#waiting.delete(resolve)) reject(signal.reason);
    };
    this.#waiting.add(resolve);
    signal.addEventListener("abort", leave);
    await taken.finally(() => signal.removeEventListener("abort", leave));
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined) return void this.#free++;
    this.#waiting.delete(next);
    next();
  }
}

export interface UploadContext {
  readonly store: Store;
  readonly storage: Storage;
  readonly permits: Semaphore;
}

/** The contexts of buckets. In this module, so that uploads over HTTP load no client without a bucket. */
export const contexts: WeakMap<object, UploadContext> = new WeakMap();

export interface Resumed {
  readonly parts: readonly StoredPart[];
  /** The id of the upload. Default: it is created with the first part. */
  readonly uploadId?: string;
  /** Whether the store keeps its parts if it fails. Default: false. */
  readonly isLeft?: boolean;
  /** The number of parts before {@linkcode parts}. */
  readonly skipped?: number;
  /** The size of a part. Default: that of the first. */
  readonly partSize?: number;
}

/** The upload of an object, which completes or aborts once. One call at a time, except {@linkcode fail}. */
export class ObjectUpload {
  readonly key: string;
  uploadId: string | undefined;
  readonly #context: UploadContext;
  readonly #options: S3WritableSettings;
  readonly #controller = new AbortController();
  readonly partSize: number;
  readonly #skipped: number;
  readonly #isLeft: boolean;
  readonly #parts: StoredPart[];
  readonly #sending = new Set<Promise<void>>();
  readonly #places: Semaphore;
  #part: GatheredPart;
  /** The running step, which never rejects. */
  #step: Promise<unknown> = Promise.resolve();
  #failed: Promise<void> | undefined = undefined;
  #isCompleted = false;

  constructor(key: string, context: UploadContext, options: S3WritableSettings, resumed?: Resumed) {
    this.key = key;
    this.#context = context;
    this.#options = options;
    this.uploadId = resumed?.uploadId;
    this.#parts = [...resumed?.parts ?? []];
    this.#skipped = resumed?.skipped ?? 0;
    this.#isLeft = resumed?.isLeft ?? false;
    this.partSize = resumed?.partSize ?? resumed?.parts[0]?.size ?? partSizeFor(options.size ?? 0);
    this.#part = this.#newPart(this.#skipped + this.#parts.length + 1);
    this.#places = new Semaphore(options.concurrency);
  }

  /** The number of consecutive parts in the store, and the total bytes of those uploaded by this object. */
  get stored(): { readonly count: number; readonly size: number } {
    let [count, size] = [0, 0];
    for (; this.#parts[count] !== undefined; count++) size += this.#parts[count]!.size;
    return { count: this.#skipped + count, size };
  }

  get rest(): GatheredPart {
    return this.#part;
  }

  /** Aborted with the reason when the upload fails. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Appends bytes, which had `length` when they were given. */
  async write(bytes: Uint8Array, length: number = bytes.length): Promise<void> {
    for (let start = 0; start < length;) {
      this.signal.throwIfAborted();
      const room = partSize(this.#part.number, this.partSize) - this.#part.length;
      const end = Math.min(length, start + room);
      await this.#guarded(async () => {
        requireLength(bytes, length);
        await this.#part.append(bytes.subarray(start, end));
      });
      if (end - start === room) await this.#guarded(() => this.#send());
      start = end;
    }
  }

  async complete(): Promise<S3Stored> {
    return await this.#guarded(async () => {
      this.signal.throwIfAborted();
      const { store } = this.#context;
      const options = { ...this.#options, signal: this.signal };
      let stored: S3Stored;
      if (this.uploadId === undefined) {
        stored = await putObject(store, this.key, this.#part, options, undefined, true);
      } else {
        await this.#settle(true);
        stored = await completeUpload(store, { key: this.key, uploadId: this.uploadId }, this.#parts, options);
      }
      this.#isCompleted = true;
      await this.#part.discard();
      return stored;
    });
  }

  /** Waits until the store has the parts that are being sent; with `isLast`, the gathered bytes are the last part. */
  async settle(isLast: boolean): Promise<void> {
    await this.#guarded(() => this.#settle(isLast));
  }

  /** Ends the upload, and removes its parts from the store. Resolves when they are removed. */
  fail(reason: unknown): Promise<void> {
    if (this.#isCompleted) return Promise.resolve();
    const abort = async (): Promise<void> => {
      await this.leave(reason);
      if (this.#isCompleted || this.uploadId === undefined || this.#isLeft) return; // too late: the object is complete
      await abortUpload(this.#context.store, { key: this.key, uploadId: this.uploadId }, ONCE);
    };
    return this.#failed ??= abort();
  }

  /** Leaves the upload to another owner: its parts stay in the store. Never rejects. */
  async leave(reason: unknown): Promise<void> {
    this.#controller.abort(reason);
    await this.#step;
    await Promise.allSettled(this.#sending);
    if (!this.#isCompleted) await this.#part.discard().catch(() => {}); // the upload has failed for another reason
  }

  async #settle(isLast: boolean): Promise<void> {
    // An object needs at least one part.
    if (isLast && (this.#part.length > 0 || this.#part.number === 1)) await this.#send();
    await Promise.all(this.#sending); // a failure aborts them
    this.signal.throwIfAborted();
  }

  /** Runs a step, whose failure fails the upload. */
  async #guarded<T>(step: () => Promise<T>): Promise<T> {
    try {
      const running = step();
      this.#step = running.catch(() => {}); // reported below
      return await running;
    } catch (error) {
      await this.fail(error).catch(() => {}); // the first failure is the one to report
      throw this.signal.reason;
    }
  }

  /** Sends the gathered part in the background, once there is a permit. */
  async #send(): Promise<void> {
    const part = this.#part;
    if (part.number >= MAX_PARTS && part.length === partSize(part.number, this.partSize)) {
      const message = `Cannot store ${JSON.stringify(this.key)}: it has too many parts`;
      throw new S3Error("EntityTooLarge", message, { key: this.key });
    }
    const { store, permits } = this.#context;
    await this.#places.acquire(this.signal);
    await permits.acquire(this.signal);
    try {
      this.uploadId ??= await createUpload(store, this.key, fieldsOf(this.#options), { signal: this.signal });
    } catch (error) {
      permits.release();
      throw error;
    }
    this.#part = this.#newPart(part.number + 1);
    const upload = { key: this.key, uploadId: this.uploadId };
    const sending = putPart(store, upload, part.number, part, { signal: this.signal })
      .then((stored) => void (this.#parts[part.number - this.#skipped - 1] = stored), (error) => {
        this.#controller.abort(error); // the next call reports it, and aborts the upload
      })
      .finally(() => part.discard())
      .finally(() => {
        permits.release();
        this.#places.release();
        this.#sending.delete(sending);
      });
    this.#sending.add(sending);
  }

  #newPart(number: number): GatheredPart {
    const { storage, store } = this.#context;
    return new GatheredPart(number, storage, store.signsParts);
  }
}
