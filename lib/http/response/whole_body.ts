import { ChunkList } from "./chunk_list.ts";
import type { BodyConsumer, ResponseBody } from "./response_body.ts";

/** The types that a whole body can be read as. */
export type WholeKind = "text" | "json" | "bytes" | "arrayBuffer" | "blob" | "formData";

const decoder = new TextDecoder();

/**
 * Reads a body to its end and makes of it what is asked for.
 *
 * @param contentType For a Blob and a form.
 * @returns a promise that rejects with the error that the body failed with, or that the result's making threw.
 */
export function readWhole(body: ResponseBody, kind: WholeKind, contentType: string): Promise<unknown> {
  return new Promise((resolve, reject) => new WholeBody(body, kind, contentType, resolve, reject).start());
}

/**
 * Converts a whole body to the type that was asked for.
 *
 * @param chunks The body; empty afterwards.
 */
export function convertWhole(chunks: ChunkList, kind: WholeKind, contentType: string): unknown {
  switch (kind) {
    case "text":
      return decoder.decode(chunks.takeAll());
    case "json":
      return JSON.parse(decoder.decode(chunks.takeAll()));
    case "bytes":
      return chunks.copyAll();
    case "arrayBuffer":
      return chunks.copyAll().buffer;
    case "blob":
      return new Blob(chunks.pieces as Uint8Array<ArrayBuffer>[], { type: contentType });
    case "formData": {
      const headers: HeadersInit = contentType === "" ? {} : { "content-type": contentType };
      return new Response(chunks.takeAll() as Uint8Array<ArrayBuffer>, { headers }).formData();
    }
  }
}

class WholeBody implements BodyConsumer {
  readonly #body: ResponseBody;
  readonly #kind: WholeKind;
  readonly #contentType: string;
  readonly #chunks: ChunkList = new ChunkList();
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    body: ResponseBody,
    kind: WholeKind,
    contentType: string,
    resolve: (value: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#body = body;
    this.#kind = kind;
    this.#contentType = contentType;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    this.#body.claim();
    this.#body.want(this);
  }

  onReady(): void {
    const body = this.#body;
    for (let chunk = body.take(); chunk !== undefined; chunk = body.take()) this.#chunks.push(chunk);
    if (body.failure !== undefined) {
      this.#reject(body.failure.reason);
    } else if (!body.isDone) {
      body.want(this);
    } else {
      this.#resolveWhole();
    }
  }

  #resolveWhole(): void {
    try {
      this.#resolve(convertWhole(this.#chunks, this.#kind, this.#contentType));
    } catch (error) {
      this.#reject(error);
    }
  }
}
