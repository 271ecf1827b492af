import type { RequestBody } from "../../../lib/http/connection.ts";

/** A body whose pieces the test gives, and which counts its pulls. */
export class ScriptedBody implements RequestBody {
  readonly length: number | undefined;
  readonly bytes = undefined;
  reads = 0;
  cancelled: unknown = undefined;
  isCancelled = false;
  readonly #pieces: (Uint8Array | undefined | Error)[] = [];
  #waiting: { resolve: (piece: Uint8Array | undefined) => void; reject: (error: Error) => void } | undefined;

  constructor(length?: number) {
    this.length = length;
  }

  /** Adds chunks; undefined ends the body, and an Error fails it. */
  give(...pieces: (Uint8Array | undefined | Error)[]): this {
    this.#pieces.push(...pieces);
    this.#answer();
    return this;
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#waiting) throw new Error("read() while a read is under way");
    this.reads++;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#answer();
    });
  }

  cancel(reason: unknown): void {
    this.isCancelled = true;
    this.cancelled = reason;
  }

  #answer(): void {
    if (!this.#waiting || this.#pieces.length === 0) return;
    const { resolve, reject } = this.#waiting;
    this.#waiting = undefined;
    const piece = this.#pieces.shift();
    if (piece instanceof Error) reject(piece);
    else resolve(piece);
  }
}

/** A body in memory, whose `read` is not to be called. */
export class WholeBody implements RequestBody {
  readonly bytes: Uint8Array;
  readonly length: number;
  isCancelled = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.length = bytes.length;
  }

  read(): Promise<Uint8Array | undefined> {
    throw new Error("read() of a body in memory");
  }

  cancel(): void {
    this.isCancelled = true;
  }
}
