import { showInNode } from "#streams/inspection";
import { wrongThis } from "../language/errors.ts";
import { StreamPair } from "../language/native_classes.ts";
import { construct, defineInterface, isObject } from "../language/webidl.ts";
import { ReadableStream } from "../readable/readable_stream.ts";
import { createTransformStream } from "../transform/transform_stream.ts";
import type { TransformerAlgorithms, TransformStreamState } from "../transform/transform_state.ts";
import { WritableStream } from "../writable/writable_stream.ts";

/**
 * The pair of streams whose readable end gives the UTF-8 bytes of the text written to its writable end.
 *
 * @see {@link https://encoding.spec.whatwg.org/#interface-textencoderstream}
 */
export class TextEncoderStream extends StreamPair {
  readonly #state: TransformStreamState = createTransformStream((state) => new Encoding(state));

  get encoding(): string {
    TextEncoderStream.#of(this);
    return "utf-8";
  }

  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { readable } = TextEncoderStream.#of(this);
    return (readable.shell ?? construct(ReadableStream, readable)) as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  get writable(): WritableStream<string> {
    const { writable } = TextEncoderStream.#of(this);
    return (writable.shell ?? construct(WritableStream, writable)) as WritableStream<string>;
  }

  static #of(value: unknown): TransformStreamState {
    if (!isObject(value) || !(#state in value)) throw wrongThis("TextEncoderStream");
    return value.#state;
  }
}
defineInterface(TextEncoderStream, "TextEncoderStream");
showInNode(TextEncoderStream, "encoding", "readable", "writable");

const encoder = new TextEncoder();
const { encode } = encoder;

/** The bytes of U+FFFD, which replaces an unpaired leading surrogate. */
const REPLACEMENT: readonly number[] = [0xef, 0xbf, 0xbd];

class Encoding implements TransformerAlgorithms {
  readonly #state: TransformStreamState;
  /** A leading surrogate at the end of the last chunk, or "". */
  #leading = "";

  constructor(state: TransformStreamState) {
    this.#state = state;
  }

  /** @see {@link https://encoding.spec.whatwg.org/#encode-and-enqueue-a-chunk} */
  transform(chunk: unknown): void {
    let text = `${chunk}`;
    if (text === "") return;
    if (this.#leading !== "") {
      text = this.#leading + text;
      this.#leading = "";
    }
    const last = text.charCodeAt(text.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#leading = text.slice(-1);
      if (text.length === 1) return;
      text = text.slice(0, -1);
    }
    this.#state.enqueue(encode.call(encoder, text));
  }

  /** @see {@link https://encoding.spec.whatwg.org/#encode-and-flush} */
  flush(): void {
    if (this.#leading !== "") this.#state.enqueue(new Uint8Array(REPLACEMENT));
  }

  cancel(): void {}
}
