import { enqueueAll, ReleasingTransformer } from "../streams/internal.ts";
import type { Transformer, TransformStreamDefaultController } from "../streams/mod.ts";
import { CompleteLines, type TextChunk } from "./complete_lines.ts";
import { LF_ENDS, LF_OR_CR_ENDS, type LineEnds } from "./line_ends.ts";
import { lineLimit } from "./line_limit.ts";

/** Makes lines of text or bytes. */
export class LineSplitter extends ReleasingTransformer implements Transformer<TextChunk, string> {
  readonly #ends: LineEnds;
  readonly #text: CompleteLines;
  #controller: TransformStreamDefaultController<string> = undefined as never; // set by start()
  /** How many lines have been enqueued. */
  #lines = 0;

  constructor(allowCR: boolean, maxLineLength: number) {
    super();
    const ends = allowCR ? LF_OR_CR_ENDS : LF_ENDS;
    this.#ends = ends;
    this.#text = new CompleteLines({
      ends,
      ...lineLimit(maxLineLength, () => this.#lines + 1),
      take: (text) => {
        const lines = ends.cut(text);
        this.#lines += lines.length;
        enqueueAll(this.#controller, lines);
      },
    });
  }

  start(controller: TransformStreamDefaultController<string>): void {
    this.#controller = controller;
  }

  transform(chunk: TextChunk): void {
    this.#text.add(chunk);
  }

  flush(): void {
    const line = this.#text.end();
    if (this.#ends === LF_OR_CR_ENDS && line.endsWith("\r")) this.#controller.enqueue(line.slice(0, -1));
    else if (line !== "") this.#controller.enqueue(line);
  }
}
