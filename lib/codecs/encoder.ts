import { type Format, traitsOf } from "./format.ts";
import { encoders } from "./module.ts";
import { compressParameters } from "./options.ts";
import { FINISH, FLUSH, type PieceLimits, PROCESS, Session } from "./session.ts";

export interface EncoderOptions {
  readonly level: number;
  /** log2 of the window in bytes. Default: chosen by the codec. */
  readonly windowLog?: number;
  /** Bytes that the reader has too. */
  readonly dictionary?: Uint8Array;
  /** Whether it should take little memory, for somewhat more bytes. Default: false. */
  readonly lean?: boolean;
}

/** Small, as servers have many encoders open. */
const PIECES: PieceLimits = { input: 32 * 1024, output: 16 * 1024 };

const NOTHING = new Uint8Array(0);

/** Opens an encoder that is driven by hand: no streams, no promises. The codec has to be loaded, by `ready()`. */
export function openEncoder(format: Format, { level, windowLog, dictionary, lean = false }: EncoderOptions): Encoder {
  const parameters = { ...compressParameters({ format, level, windowLog, dictionary }, -1, false), lean };
  return new Encoder(new Session(encoders.loaded(parameters.family)!, parameters));
}

/** Whether the codec that writes a format is loaded. */
export function isEncoderLoaded(format: Format): boolean {
  return encoders.loaded(traitsOf(format).family) !== undefined;
}

/** An encoder of one compressed stream. Holds WASM memory until {@linkcode Encoder.close}. */
export class Encoder {
  readonly #session: Session;
  #isOpen = true;

  /** Takes over a session that compresses. */
  constructor(session: Session) {
    this.#session = session;
  }

  /** Encodes `bytes`, which may be changed afterwards, and returns the output that is there so far: often none. */
  write(bytes: Uint8Array): Uint8Array<ArrayBuffer>[] {
    return this.#run(bytes, PROCESS);
  }

  /** Returns the output that makes everything decodable that was written. */
  flush(): Uint8Array<ArrayBuffer>[] {
    return this.#run(NOTHING, FLUSH);
  }

  /** Completes the stream and frees the codec's memory. */
  finish(): Uint8Array<ArrayBuffer>[] {
    const output = this.#run(NOTHING, FINISH);
    this.close();
    return output;
  }

  /** Frees the codec's memory. Further calls do nothing. */
  close(): void {
    this.#isOpen = false;
    this.#session.close();
  }

  #run(bytes: Uint8Array, operation: number): Uint8Array<ArrayBuffer>[] {
    const output: Uint8Array<ArrayBuffer>[] = [];
    if (this.#isOpen) {
      for (const piece of this.#session.run(bytes, operation, PIECES)) output.push(piece);
    }
    return output;
  }
}
