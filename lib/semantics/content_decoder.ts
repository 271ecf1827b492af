import { type Decoder, faultOf, openDecoder } from "../codecs/internal.ts";
import { type UndoableCoding, undoableFormats } from "./content_coding.ts";

/** The maximum bytes that are written at once, since the decoder copies them. */
export const MAX_INPUT: number = 64 * 1024;

/** A stepwise decoder of a content coding. It has WASM memory until it is closed, done or failed. */
export class ContentDecoder {
  readonly coding: UndoableCoding;
  /** Whether all output was returned: after the end of the input, or of the coding if bytes follow it. */
  isDone = false;
  /** The decoder's error about bytes after the end of the coding; undefined if there were none. */
  trailing: Error | undefined = undefined;
  #decoder: Decoder | undefined;
  #isInputComplete = false;

  /** Wraps a decoder, and takes ownership of it. */
  private constructor(coding: UndoableCoding, decoder: Decoder) {
    this.coding = coding;
    this.#decoder = decoder;
  }

  /** Opens a decoder; `first` is the body's first byte, if any. */
  static async open(coding: UndoableCoding, first: number | undefined): Promise<ContentDecoder> {
    return new ContentDecoder(coding, await openFormatDecoder(coding, first));
  }

  /** Whether the decoder needs more input, or the end of input, to continue. */
  get needsInput(): boolean {
    return !this.#isInputComplete && this.#decoder?.more === false;
  }

  /** Copies up to {@linkcode MAX_INPUT} bytes; to be called when the decoder needs input. */
  write(input: Uint8Array): void {
    this.#decoder?.write(input);
  }

  /** Ends the input; to be called when the decoder needs input. */
  end(): void {
    this.#isInputComplete = true;
  }

  /**
   * Decodes into `target`, and returns the number of bytes filled. Bytes after the end of the data are not an error
   * here.
   * @throws {TypeError} if the data is corrupt or ends too early.
   * @throws {RangeError} if zstd needs a larger window than RFC 9659 allows, 8 MiB, or memory runs out.
   */
  read(target: Uint8Array): number {
    const decoder = this.#decoder;
    if (decoder === undefined) return 0;
    try {
      const length = this.#isInputComplete ? decoder.finish(target) : decoder.read(target);
      this.isDone = this.#isInputComplete && !decoder.more;
      if (this.isDone) this.close();
      return length;
    } catch (error) {
      this.close();
      if (faultOf(error) !== "trailing") throw error;
      this.trailing = error as Error;
      this.isDone = true;
      return 0;
    }
  }

  close(): void {
    this.#decoder?.close();
    this.#decoder = undefined;
  }
}

function openFormatDecoder(coding: UndoableCoding, first: number | undefined): Promise<Decoder> {
  // Some servers omit the zlib wrapper, which begins with the number 8 for the method (RFC 1950, section 2.2). Raw
  // deflate data does not begin so: that would be a stored block with non-zero padding.
  const isUnwrapped = coding === "deflate" && first !== undefined && (first & 15) !== 8;
  return openDecoder(isUnwrapped ? "deflate-raw" : undoableFormats[coding]);
}
