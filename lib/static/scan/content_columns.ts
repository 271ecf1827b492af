import { GROWTH, NumberColumn } from "./number_column.ts";

/** Bytes of a SHA-256. */
const HASH = 32;
/** The size of what is not known. */
const UNKNOWN = -1;

/**
 * The sizes and hashes of many files, each by a number. As objects those of 40,000 files would take 10 MB, and 30 MB more
 * of V8's heap for what is young, which grows with what survives in it.
 */
export class ContentColumns {
  readonly #sizes = new NumberColumn();
  #hashes: Buffer<ArrayBuffer> = Buffer.alloc(512 * HASH);

  get length(): number {
    return this.#sizes.length;
  }

  /** Adds a content that is not known yet; its number is the former {@linkcode length}. */
  add(): void {
    if (this.length * HASH === this.#hashes.length) {
      this.#hashes = Buffer.from(this.#hashes.buffer.transfer(Math.ceil(this.length * GROWTH) * HASH));
    }
    this.#sizes.push(UNKNOWN);
  }

  /** Sets a content, which is not known then if `sha256` is none. */
  set(index: number, size: number, sha256: string, encoding: "hex" | "base64"): void {
    const isHash = this.#hashes.write(sha256, index * HASH, HASH, encoding) === HASH;
    this.#sizes.set(index, isHash ? size : UNKNOWN);
  }

  /** Resets a content to unknown. */
  clear(index: number): void {
    this.#sizes.set(index, UNKNOWN);
  }

  /** Whether a content is known. */
  has(index: number): boolean {
    return this.#sizes.at(index) !== UNKNOWN;
  }

  /** In bytes. */
  sizeOf(index: number): number {
    return this.#sizes.at(index);
  }

  /** Whether a content is the same as one of `others`; both are known. */
  isSame(index: number, others: ContentColumns, other: number): boolean {
    const [start, end] = [index * HASH, (index + 1) * HASH];
    return this.#hashes.compare(others.#hashes, other * HASH, (other + 1) * HASH, start, end) === 0;
  }

  /** In base64. */
  sha256Of(index: number): string {
    return this.#hashes.toString("base64", index * HASH, (index + 1) * HASH);
  }
}
