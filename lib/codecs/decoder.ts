import type { Format } from "./format.ts";
import { decoders } from "./module.ts";
import { type DecompressOptions, decompressParameters } from "./options.ts";
import { FINISH, PROCESS, Session } from "./session.ts";

/** Opens a decoder that is driven by hand: no streams, no promises, and output goes into the caller's own buffers. */
export async function openDecoder(
  format: Exclude<Format, "dcb" | "dcz">,
  options: Pick<DecompressOptions, "maxWindow"> = {},
): Promise<Decoder> {
  const parameters = decompressParameters({ format, ...options }, false);
  return new Decoder(new Session(await decoders.load(parameters.family), parameters));
}

/** A compressed stream, decoded in steps. Holds WASM memory until {@linkcode Decoder.close}. */
export class Decoder {
  /** Whether there is output, or input to go on with: {@linkcode Decoder.write} only if not. */
  more = false;
  #session: Session;
  /** Bytes of the last {@linkcode Decoder.write} that the codec has not been told of. */
  #fresh = 0;

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
   * @throws {RangeError} if zstd data needs a larger window than is allowed, or memory runs out.
   */
  read(target: Uint8Array): number {
    return this.#step(target, PROCESS);
  }

  /** Like {@linkcode Decoder.read}, once all input is written and there is no more; again as long as there is more. */
  finish(target: Uint8Array): number {
    return this.#step(target, FINISH);
  }

  #step(target: Uint8Array, operation: number): number {
    const fresh = this.#fresh;
    this.#fresh = 0;
    const { length, more } = this.#session.stepInto(target, fresh, operation);
    this.more = more;
    return length;
  }

  /** Frees the codec's memory. Further calls do nothing. */
  close(): void {
    this.#session.close();
  }
}
