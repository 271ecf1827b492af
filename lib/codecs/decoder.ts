import type { Format } from "./format.ts";
import { decoders } from "./module.ts";
import { decompressParameters } from "./options.ts";
import { FINISH, PROCESS, Session } from "./session.ts";

/**
 * Opens a decoder that is driven by hand: no streams, no promises, and output goes into the caller's own buffers.
 * `windowLog` is log2 of the largest window in bytes that zstd data may ask for, 10 to 27. Default: 27.
 */
export async function openDecoder(
  format: Exclude<Format, "dcb" | "dcz">,
  { windowLog = 0 }: { windowLog?: number } = {},
): Promise<Decoder> {
  const parameters = { ...decompressParameters({ format }, false), windowLog };
  return new Decoder(new Session(await decoders.load(parameters.family), parameters));
}

/** A compressed stream, decoded in steps. Holds WASM memory until {@linkcode Decoder.close}. */
export class Decoder {
  /** Whether there is output, or input to go on with: {@linkcode Decoder.write} only if not. */
  more = false;
  #session: Session;
  /** Bytes of the last {@linkcode Decoder.write} that the codec has not been told of. */
  #fresh = 0;
  /** The error of the next step: the last one gave the output before it. */
  #fault: TypeError | undefined = undefined;

  /** Takes over a session that decompresses. */
  constructor(session: Session) {
    this.#session = session;
  }

  /** Takes a copy of `input`, so its size adds to the memory held: tens of KiB are a good measure. */
  write(input: Uint8Array): void {
    this.#session.write(input);
    this.#fresh = input.length;
    this.more = input.length > 0;
  }

  /**
   * Decodes into `target` and returns how many bytes of it are filled.
   *
   * @throws {TypeError} if the data is corrupt; what comes out before that is given first, and {@linkcode Decoder.more} is true.
   * @throws {RangeError} if memory runs out.
   */
  read(target: Uint8Array): number {
    return this.#step(target, PROCESS);
  }

  /** Like {@linkcode Decoder.read}, once all input is written and there is no more; again as long as there is more. */
  finish(target: Uint8Array): number {
    return this.#step(target, FINISH);
  }

  #step(target: Uint8Array, operation: number): number {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      const { length, more } = this.#session.stepInto(target, this.#fresh, operation);
      this.more = more;
      return length;
    } catch (error) {
      const length = error instanceof TypeError ? this.#session.copyOutput(target) : 0;
      if (length === 0) throw error;
      this.#fault = error as TypeError;
      this.more = true;
      return length;
    } finally {
      this.#fresh = 0;
    }
  }

  /** Frees the codec's memory. Further calls do nothing. */
  close(): void {
    this.#session.close();
  }
}
