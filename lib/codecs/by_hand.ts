import { type Family, type Format, traitsOf } from "./format.ts";
import { type CompressOptions, compressParameters, type DecompressOptions, decompressParameters } from "./options.ts";
import { counted } from "./pump.ts";
import { FINISH, FLUSH, type PieceLimits, PROCESS, type Session, StreamSession } from "./session.ts";
import { decoders, encoders } from "./whole.ts";

interface EncoderOptions extends Pick<CompressOptions, "level" | "windowLog" | "dictionary"> {
  /** Whether the encoder should use little memory, for slightly larger output. Default: false. */
  readonly lean?: boolean;
}

/** Small pieces, since servers have many encoders open. */
const PIECES: PieceLimits = { input: 32 * 1024, output: 16 * 1024 };

const NOTHING = new Uint8Array(0);

/** Opens an encoder with plain synchronous methods. The codec must have been loaded by `ready()`. */
export function openEncoder(format: Format, { level, windowLog, dictionary, lean = false }: EncoderOptions): Encoder {
  const parameters = { ...compressParameters({ format, level, windowLog, dictionary }, -1, false), lean };
  return new Encoder(new StreamSession(encoders[parameters.family].module!, parameters));
}

export function isEncoderLoaded(format: Format): boolean {
  return encoders[traitsOf(format).family].module !== undefined;
}

/** An encoder of one compressed stream. Holds WASM memory until {@linkcode Encoder.close}. */
export class Encoder {
  readonly #session: Session;
  #isOpen = true;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Encodes `bytes`, which may be changed afterwards, and returns the output so far: often none. */
  write(bytes: Uint8Array): Uint8Array<ArrayBuffer>[] {
    return this.#run(bytes, PROCESS);
  }

  /** Encodes pieces, which must not change; yields each step's output, often empty, until the encoder is closed. */
  *steps(pieces: Iterable<Uint8Array>): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
    if (!this.#isOpen) return;
    for (const piece of pieces) {
      for (const output of this.#session.run(piece, PROCESS, PIECES)) {
        yield output;
        if (!this.#isOpen) return;
      }
    }
  }

  /** Returns the output that makes all written bytes decodable. */
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
    if (!this.#isOpen) return [];
    return counted(() => [...this.#session.run(bytes, operation, PIECES)].filter(({ length }) => length > 0));
  }
}

/** The SHA-256 of each encoder's module, in hexadecimal, as `lib/codecs/wasm/build.json` records it. */
const versions: Readonly<Record<Family, string>> = {
  brotli: "cca3b91bc11ce4a683b6c70663ae199bd1a2a257e4bece06597db0d89471f7dd",
  zstd: "c44be064808c71eaf9e64a137d6760f9ee9856ce148be509fc3c5cf151e43d06",
  deflate: "e3bda7f83cd77a2fcac49c89f3b2435a1fe6dc0d2c20700d5994a388cc1f3c2a",
};

/** Returns the version of a format's encoder: another version may write other bytes. */
export function encoderVersion(format: Format): string {
  return versions[traitsOf(format).family];
}

/** Opens a decoder with plain synchronous methods, which writes its output into the caller's buffers. */
export async function openDecoder(
  format: Exclude<Format, "dcb" | "dcz">,
  options: Pick<DecompressOptions, "maxWindow"> = {},
): Promise<Decoder> {
  const parameters = decompressParameters({ format, ...options }, false);
  return new Decoder(new StreamSession(await decoders[parameters.family].load(), parameters));
}

/** A compressed stream, decoded in steps. Holds WASM memory until {@linkcode Decoder.close}. */
export class Decoder {
  /** Whether output is pending or input is not yet consumed: {@linkcode Decoder.write} must not be called then. */
  more = false;
  #session: Session;
  /** The bytes of the last {@linkcode Decoder.write} that the session has not consumed. */
  #fresh = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Copies `input` into the codec's memory: write tens of KiB at once, not more. */
  write(input: Uint8Array): void {
    this.#session.write(input);
    this.#fresh = input.length;
    this.more = input.length > 0;
  }

  /** Decodes into `target`; returns the number of bytes. Throws as a session does, after all output before a fault. */
  read(target: Uint8Array): number {
    return this.#step(target, PROCESS);
  }

  /** Decodes as {@linkcode Decoder.read} does, after all input is written; to be repeated while {@linkcode Decoder.more}. */
  finish(target: Uint8Array): number {
    return this.#step(target, FINISH);
  }

  #step(target: Uint8Array, operation: number): number {
    const fresh = this.#fresh;
    this.#fresh = 0;
    this.more = this.#session.advance(fresh, operation, target.length);
    const output = this.#session.output();
    target.set(output);
    return output.length;
  }

  /** Frees the codec's memory. Further calls do nothing. */
  close(): void {
    this.#session.close();
  }
}
