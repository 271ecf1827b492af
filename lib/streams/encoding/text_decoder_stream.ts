import { showInNode } from "#streams/inspection";
import { mustBe, wrongThis } from "../language/errors.ts";
import { StreamPair } from "../language/native_classes.ts";
import { construct, defineInterface, isObject } from "../language/webidl.ts";
import { ReadableStream } from "../readable/readable_stream.ts";
import { createTransformStream } from "../transform/transform_stream.ts";
import type { TransformerAlgorithms, TransformStreamState } from "../transform/transform_state.ts";
import { WritableStream } from "../writable/writable_stream.ts";

const { TextDecoder } = globalThis;
const { decode } = TextDecoder.prototype;

/**
 * The pair of streams whose readable end gives the text of the bytes written to its writable end.
 *
 * @see {@link https://encoding.spec.whatwg.org/#interface-textdecoderstream}
 */
export class TextDecoderStream extends StreamPair {
  readonly #decoder: globalThis.TextDecoder;
  readonly #state: TransformStreamState;

  /** @throws {RangeError} if there is no encoding of that name. */
  constructor(label: string | undefined = "utf-8", options: TextDecoderOptions | undefined = {}) {
    super();
    const decoder = new TextDecoder(label, options);
    this.#decoder = decoder;
    this.#state = createTransformStream((state) => new Decoding(state, decoder));
  }

  get encoding(): string {
    return TextDecoderStream.#of(this).#decoder.encoding;
  }

  get fatal(): boolean {
    return TextDecoderStream.#of(this).#decoder.fatal;
  }

  get ignoreBOM(): boolean {
    return TextDecoderStream.#of(this).#decoder.ignoreBOM;
  }

  get readable(): ReadableStream<string> {
    const { readable } = TextDecoderStream.#of(this).#state;
    return (readable.shell ?? construct(ReadableStream, readable)) as ReadableStream<string>;
  }

  get writable(): WritableStream<BufferSource> {
    const { writable } = TextDecoderStream.#of(this).#state;
    return (writable.shell ?? construct(WritableStream, writable)) as WritableStream<BufferSource>;
  }

  static #of(value: unknown): TextDecoderStream {
    if (!isObject(value) || !(#state in value)) throw wrongThis("TextDecoderStream");
    return value;
  }
}
defineInterface(TextDecoderStream, "TextDecoderStream");
showInNode(TextDecoderStream, "encoding", "fatal", "ignoreBOM", "readable", "writable");

const MORE: TextDecodeOptions = { stream: true };

/**
 * Returns a copy of a chunk that the decoder refused because its memory is shared, as Chromium's does against the
 * standard. Returns `undefined` after other refusals: malformed bytes must not be decoded twice.
 */
function copyOfShared(chunk: unknown): Uint8Array | undefined {
  const view = ArrayBuffer.isView(chunk) ? chunk : undefined;
  const buffer = (view?.buffer ?? chunk) as SharedArrayBuffer;
  if (Object.prototype.toString.call(buffer) !== "[object SharedArrayBuffer]") return undefined;
  try {
    new TextDecoder().decode(new Uint8Array(buffer, 0, 0));
    return undefined;
  } catch {
    return new Uint8Array(buffer, view?.byteOffset, view?.byteLength).slice();
  }
}

class Decoding implements TransformerAlgorithms {
  readonly #state: TransformStreamState;
  readonly #decoder: globalThis.TextDecoder;

  constructor(state: TransformStreamState, decoder: globalThis.TextDecoder) {
    this.#state = state;
    this.#decoder = decoder;
  }

  /** @see {@link https://encoding.spec.whatwg.org/#decode-and-enqueue-a-chunk} */
  transform(chunk: unknown): void {
    // Decode() treats undefined as no chunk, and WebKit's null, too.
    if (chunk === undefined || chunk === null) throw mustBe("a chunk", "an ArrayBuffer or a view of one");
    const text = this.#decode(chunk);
    if (text !== "") this.#state.enqueue(text);
  }

  #decode(chunk: unknown): string {
    try {
      return decode.call(this.#decoder, chunk as BufferSource, MORE);
    } catch (error) {
      const copy = copyOfShared(chunk);
      if (copy === undefined) throw error;
      return decode.call(this.#decoder, copy, MORE);
    }
  }

  /** @see {@link https://encoding.spec.whatwg.org/#flush-and-enqueue} */
  flush(): void {
    const text = decode.call(this.#decoder);
    if (text !== "") this.#state.enqueue(text);
  }

  cancel(): void {}
}
