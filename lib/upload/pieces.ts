/** Pieces that are taken in parts. */
export class Pieces {
  readonly #pieces: readonly Uint8Array[];
  #index = 0;
  #offset = 0;

  /** Begins with the first of the pieces. */
  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  /** The bytes of all pieces. */
  get length(): number {
    return this.#pieces.reduce((total, piece) => total + piece.length, 0);
  }

  /** The next part, of up to `most` bytes; undefined at the end. */
  take(most: number): Uint8Array | undefined {
    const piece = this.#pieces[this.#index];
    const part = piece?.subarray(this.#offset, this.#offset + most);
    if (piece === undefined || part === undefined) return undefined;
    this.#offset += part.length;
    if (this.#offset === piece.length) {
      this.#index++;
      this.#offset = 0;
    }
    return part;
  }
}
