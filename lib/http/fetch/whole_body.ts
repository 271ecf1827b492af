import type { BodyConsumer, ResponseBody } from "./response_body.ts";
import { ChunkList } from "./chunk_list.ts";

/** What a body may be read as. */
export type WholeKind = "text" | "json" | "bytes" | "arrayBuffer" | "blob" | "formData";

const decoder = new TextDecoder();

/** Reads a body to its end and makes of it what is asked for. */
export class WholeBody implements BodyConsumer {
  readonly #body: ResponseBody;
  readonly #kind: WholeKind;
  readonly #contentType: string;
  readonly #chunks = new ChunkList();
  #resolve: (value: unknown) => void = undefined as never;
  #reject: (error: unknown) => void = undefined as never;

  constructor(body: ResponseBody, kind: WholeKind, contentType: string) {
    this.#body = body;
    this.#kind = kind;
    this.#contentType = contentType;
  }

  /** Begins to read. */
  get result(): Promise<unknown> {
    const result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#body.attach(this);
    return result;
  }

  /** The same by way of the stream that was made already. */
  async readStream(stream: ReadableStream<Uint8Array>): Promise<unknown> {
    for await (const chunk of stream) this.#chunks.push(chunk);
    return this.#finish();
  }

  onReady(): void {
    const body = this.#body;
    if (body.failure !== undefined) return this.#reject(body.failure.reason);
    for (let chunk = body.take(); chunk !== undefined; chunk = body.take()) this.#chunks.push(chunk);
    if (!body.isDone) return;
    try {
      this.#resolve(this.#finish());
    } catch (error) {
      this.#reject(error);
    }
  }

  #finish(): unknown {
    const bytes = this.#chunks.takeAll();
    switch (this.#kind) {
      case "text":
        return decoder.decode(bytes);
      case "json":
        return JSON.parse(decoder.decode(bytes));
      case "bytes":
        return new Uint8Array(bytes);
      case "arrayBuffer":
        return new Uint8Array(bytes).buffer;
      case "blob":
        return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: this.#contentType });
      case "formData":
        return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { "content-type": this.#contentType } })
          .formData();
    }
  }
}
