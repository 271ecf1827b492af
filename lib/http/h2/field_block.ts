import { ConnectionFault, ENHANCE_YOUR_CALM } from "./error_codes.ts";

/** More frames than this, and one for so many bytes of the limit, are no field block, but an attack. */
const MOST_FRAMES = 64;
const BYTES_OF_FRAME = 8192;
const NOTHING = new Uint8Array(0);

/** A field block that comes in several frames: HEADERS, then CONTINUATION. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4.3} */
export class FieldBlock {
  /** Whether HEADERS had END_STREAM. */
  endsStream = false;
  bytes: Uint8Array = NOTHING;
  length = 0;
  readonly #limit: number;
  readonly #frameLimit: number;
  #frames = 0;

  /**
   * Makes an empty one, to be used for one block after the other.
   *
   * @param limit In bytes, as compressed.
   */
  constructor(limit: number) {
    this.#limit = limit;
    this.#frameLimit = MOST_FRAMES + Math.ceil(limit / BYTES_OF_FRAME);
  }

  /** Begins an empty block. */
  begin(endsStream: boolean): void {
    this.endsStream = endsStream;
    this.length = 0;
    this.#frames = 0;
  }

  /**
   * Adds what a frame has of it.
   *
   * @throws {ConnectionFault} if there is too much: it cannot be skipped, as the blocks after it build on it.
   */
  add(chunk: Uint8Array, start: number, end: number): void {
    const length = this.length + end - start;
    if (length > this.#limit || ++this.#frames > this.#frameLimit) {
      throw new ConnectionFault(
        ENHANCE_YOUR_CALM,
        `the server sent a field block of more than ${this.#limit} bytes or ${this.#frameLimit} frames`,
      );
    }
    if (length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(length, Math.min(this.bytes.length * 2, this.#limit)));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    this.bytes.set(chunk.subarray(start, end), this.length);
    this.length = length;
  }

  /** The block is done with: its memory is given back. */
  clear(): void {
    this.bytes = NOTHING;
    this.length = 0;
  }
}
