import { within } from "../../support/waits.ts";

/** A reader of a stream that never ends, and the text that it has read. */
export class Following {
  text = "";
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Reads one chunk. */
  async read(): Promise<string> {
    const { value } = await within(this.#reader.read(), `more than ${JSON.stringify(this.text.slice(-80))}`);
    const text = this.#decoder.decode(value, { stream: true });
    this.text += text;
    return text;
  }

  /** Reads until as many characters have come. */
  async reach(length: number): Promise<string> {
    while (this.text.length < length) await this.read();
    return this.text;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}
