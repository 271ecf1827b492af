/** As many bytes as make a chunk. */
const FULL = 64 * 1024;
/** From this size on in UTF-16 code units a text is encoded for itself, as nobody knows how many bytes it has. */
const LONG = FULL / 4;
/** The most bytes that a code unit takes in UTF-8. */
const UNIT = 3;
/** The longest text that is added unit by unit: separators and line ends. */
const SHORT = 2;
const SMALLEST = 4096;
/** The most bytes of the buffer that is kept: one long text does not hold its memory for ever. */
const KEPT = 4 * FULL;

const encoder = new TextEncoder();

/** A buffer of bytes of text, which is copied when it is full: only then is it known how long a chunk has to be. */
export class ByteChunks {
  /** How many bytes are in. */
  length = 0;
  #bytes = new Uint8Array(0);

  /** Whether there are enough for a chunk. */
  get isFull(): boolean {
    return this.length >= FULL;
  }

  /** The buffer, with room for so many bytes from `length` on. */
  room(size: number): Uint8Array {
    const needed = this.length + size;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length, SMALLEST));
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    }
    return this.#bytes;
  }

  /** Adds a text. */
  add(text: string): void {
    if (text.length <= SHORT && this.#addAscii(text)) return;
    if (text.length < LONG) {
      const bytes = this.room(text.length * UNIT);
      this.length += encoder.encodeInto(text, bytes.subarray(this.length)).written;
    } else {
      const encoded = encoder.encode(text);
      this.room(encoded.length).set(encoded, this.length);
      this.length += encoded.length;
    }
  }

  #addAscii(text: string): boolean {
    const bytes = this.room(text.length);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) return false;
      bytes[this.length + i] = unit;
    }
    this.length += text.length;
    return true;
  }

  /** Returns a copy of all bytes, and forgets them. */
  take(): Uint8Array<ArrayBuffer> {
    const chunk = this.#bytes.slice(0, this.length);
    this.clear();
    return chunk;
  }

  /** Forgets all bytes. */
  clear(): void {
    this.length = 0;
    if (this.#bytes.length > KEPT) this.#bytes = new Uint8Array(0);
  }
}
