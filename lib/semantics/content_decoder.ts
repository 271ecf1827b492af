import { type Decoder, faultOf, openDecoder } from "../codecs/internal.ts";
import { type UndoableCoding, undoableFormats } from "./content_coding.ts";

/** The most bytes that are written at once: the decoder has a copy of them. */
export const MAX_INPUT: number = 64 * 1024;

/** A stepper that undoes a content coding. Holds WASM memory until it is closed, done or has failed. */
export class ContentDecoder {
  readonly coding: UndoableCoding;
  /** Whether all output was given: after the end of the input, or of the coding where something follows it. */
  isDone = false;
  /** The decoder's error about bytes that follow the end of the coding, if it is done because of them. */
  trailing: Error | undefined = undefined;
  #decoder: Decoder | undefined;
  #isInputComplete = false;

  /** Wraps a decoder, which it then owns. */
  private constructor(coding: UndoableCoding, decoder: Decoder) {
    this.coding = coding;
    this.#decoder = decoder;
  }

  /** Whether the decoder needs more input, or the end of input. */
  static async open(coding: UndoableCoding, first: number | undefined): Promise<ContentDecoder> {
    return new ContentDecoder(coding, await openFormatDecoder(coding, first));
  }

  /** Whether it goes on only with more input, or none to come. */
  get needsInput(): boolean {
    return !this.#isInputComplete && this.#decoder?.more === false;
  }

  /** Takes a copy of up to {@linkcode MAX_INPUT} bytes, when it needs input. */
  write(input: Uint8Array): void {
    this.#decoder?.write(input);
  }

  /** Ends the input, when it needs some. */
  end(): void {
    this.#isInputComplete = true;
  }

  /**
   * Decodes into `target`, and returns how many bytes of it are filled. Bytes behind the data's end are no error here.
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
  // Some servers leave out the zlib wrapper, which begins with the number 8 for the method (RFC 1950, section 2.2).
  // Deflate data itself does not: it would begin with a stored block whose padding is not zero.
  const isUnwrapped = coding === "deflate" && first !== undefined && (first & 15) !== 8;
  return openDecoder(isUnwrapped ? "deflate-raw" : undoableFormats[coding]);
}
