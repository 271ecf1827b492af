import { clearImmediate, setImmediate } from "node:timers";
import { isUint8Array, joinBytes } from "../../streams/internal.ts";
import { type BodyReader, releaseBudget } from "./body_source.ts";

/** A body whose source pushes chunks, which are gathered until they are read. */
export abstract class GatheredBody implements BodyReader {
  /** The number of bytes that are gathered, and of those that were handed out and are still in use. */
  protected gathered = 0;
  protected held = 0;
  protected hasEnded = false;
  protected failure: { readonly reason: unknown } | undefined = undefined;
  #pieces: Uint8Array[] = [];
  /** The chunks that were handed out, the oldest first. */
  readonly #given: (readonly Uint8Array[])[] = [];
  #waiting: { resolve(pieces: readonly Uint8Array[] | undefined): void; reject(error: unknown): void } | undefined =
    undefined;
  /** Set while {@linkcode deliver} is scheduled: small chunks of one turn of the event loop are delivered together. */
  #soon: ReturnType<typeof setImmediate> | undefined = undefined;

  abstract readonly isPaused: boolean;
  /** Whether the chunks have no other owner, so that their memory can be given back at once. */
  protected abstract readonly ownsChunks: boolean;
  /** Resumes the source, unless too many bytes are buffered. */
  protected abstract goOn(): void;
  /** Abandons the source. */
  protected abstract leave(reason: unknown): void;

  read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.gathered > 0) {
      const pieces = this.#give();
      this.goOn();
      return Promise.resolve(pieces);
    }
    if (this.failure) return Promise.reject(this.failure.reason);
    if (this.hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => this.#waiting = { resolve, reject });
  }

  release(): void {
    const pieces = this.#given.shift() ?? [];
    for (const piece of pieces) this.held -= piece.length;
    if (this.ownsChunks) freeChunks(pieces);
    this.goOn();
  }

  cancel(reason: unknown): Promise<void> {
    if (this.hasEnded || this.failure) return Promise.resolve();
    this.#pieces = [];
    this.gathered = 0;
    this.fail(reason);
    this.leave(reason);
    return Promise.resolve();
  }

  /** Takes a chunk, and delivers it to the pending read: at once, or at the end of this turn of the event loop. */
  protected take(chunk: unknown, isAtOnce: (chunk: Uint8Array) => boolean): void {
    if (!isUint8Array(chunk) || isDetached(chunk)) return void this.cancel(notBytes(chunk));
    if (chunk.length === 0) return;
    this.#pieces.push(chunk);
    this.gathered += chunk.length;
    const isReady = isAtOnce(chunk);
    if (this.#waiting === undefined) return;
    if (isReady) this.deliver();
    else this.#soon ??= setImmediate(this.deliver);
  }

  protected readonly deliver = (): void => {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    if (this.#waiting === undefined || this.gathered === 0) return;
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve(this.#give());
    this.goOn();
  };

  protected end(): void {
    this.hasEnded = true;
    releaseBudget();
    this.deliver();
    this.#waiting?.resolve(undefined);
  }

  /** Fails the body once the chunks before the failure are read. */
  protected fail(reason: unknown): void {
    if (this.hasEnded || this.failure) return;
    this.failure = { reason };
    releaseBudget();
    this.deliver();
    this.#waiting?.reject(reason);
  }

  #give(): readonly Uint8Array[] {
    const pieces = this.#pieces;
    const length = this.gathered;
    this.#given.push(pieces);
    this.held += length;
    this.#pieces = [];
    this.gathered = 0;
    return joinSmall(pieces, length);
  }
}

/** The minimum bytes of a chunk that is freed: for smaller ones that takes longer than garbage collection. */
const MIN_FREED_BYTES = 4 * 1024;

/** Frees the memory of chunks at once: with 200 uploads at a time that saves 100 MB, and time. */
export function freeChunks(chunks: readonly Uint8Array[]): void {
  for (const { buffer, byteOffset, byteLength } of chunks) {
    if (byteLength < MIN_FREED_BYTES || byteOffset !== 0 || byteLength !== buffer.byteLength) continue;
    (buffer as ArrayBuffer).transfer(0);
  }
}

/** Whether a chunk's buffer is detached, as by a transfer: its bytes are elsewhere. */
function isDetached({ length, buffer }: Uint8Array): boolean {
  return length === 0 && (buffer as ArrayBuffer).detached;
}

/** The maximum bytes of a small chunk: handling such chunks one by one takes longer than copying them together. */
export const SMALL = 4096;

/** Joins the gathered chunks, if they are small. */
function joinSmall(pieces: readonly Uint8Array[], length: number): readonly Uint8Array[] {
  return pieces.length > 1 && length < pieces.length * SMALL ? [joinBytes(pieces, length)] : pieces;
}

/** Returns the error for a body that gives a chunk of another type than bytes. */
function notBytes(chunk: unknown): TypeError {
  const kind = typeof chunk === "object" && chunk !== null
    ? isUint8Array(chunk) ? "one whose buffer is detached" : `an object of ${chunk.constructor?.name}`
    : `a ${typeof chunk}`;
  return new TypeError(`The chunks of a body must be Uint8Arrays, not ${kind}`);
}
