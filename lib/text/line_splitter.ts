import { enqueueAll, ReleasingTransformer } from "../streams/internal.ts";
import type { Transformer, TransformStreamDefaultController } from "../streams/mod.ts";
import { bytesOfChunk } from "./chunk_bytes.ts";
import { LF_ENDS, LF_OR_CR_ENDS, type LineEnds } from "./line_ends.ts";
import { UnfinishedLine } from "./unfinished_line.ts";

/**
 * Makes lines of bytes. All lines that are complete in a chunk are decoded in one piece, which is cut as text. A piece
 * ends where a line does, never within a character, so the decoder need not know the next one: that is twice as fast as
 * its streaming mode where text is not all ASCII.
 */
export class LineSplitter extends ReleasingTransformer implements Transformer<ArrayBuffer | ArrayBufferView, string> {
  readonly #ends: LineEnds;
  readonly #unfinished = new UnfinishedLine();
  /** It keeps byte order marks: only the one at the start of it all is to be dropped. */
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #hasStarted = false;

  constructor(allowCR: boolean) {
    super();
    this.#ends = allowCR ? LF_OR_CR_ENDS : LF_ENDS;
  }

  transform(chunk: ArrayBuffer | ArrayBufferView, controller: TransformStreamDefaultController<string>): void {
    let bytes = bytesOfChunk(chunk);
    if (this.#unfinished.length > 0) {
      const first = this.#ends.first(bytes, this.#unfinished.endsWithCR);
      this.#unfinished.append(first === -1 ? bytes : bytes.subarray(0, first));
      if (first === -1) return;
      enqueueAll(controller, this.#ends.cut(this.#decode(this.#unfinished.take())));
      bytes = bytes.subarray(first);
    }
    const last = this.#ends.last(bytes);
    if (last > 0) enqueueAll(controller, this.#ends.cut(this.#decode(bytes.subarray(0, last))));
    this.#unfinished.append(bytes.subarray(last));
  }

  flush(controller: TransformStreamDefaultController<string>): void {
    const endsAtCR = this.#ends === LF_OR_CR_ENDS && this.#unfinished.endsWithCR;
    const line = this.#decode(this.#unfinished.take());
    if (endsAtCR) controller.enqueue(line.slice(0, -1));
    else if (line !== "") controller.enqueue(line);
  }

  #decode(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes);
    if (this.#hasStarted) return text;
    this.#hasStarted = true;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }
}
