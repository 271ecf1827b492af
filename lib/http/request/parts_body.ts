import type { RequestBody } from "../exchange.ts";
import { sizeOfBlob } from "./blob_members.ts";
import type { BodySource } from "./body_source.ts";
import { StreamBody } from "./stream_body.ts";

/** A body of bytes and files, one after the other. */
export class BlobBody implements BodySource {
  readonly #parts: readonly (Uint8Array | Blob)[];
  readonly length: number;
  readonly replayable = true;

  constructor(parts: readonly (Uint8Array | Blob)[]) {
    this.#parts = parts;
    let length = 0;
    for (const part of parts) length += part instanceof Blob ? sizeOfBlob(part) : part.length;
    this.length = length;
  }

  open(): RequestBody {
    return new StreamBody(chunksOf(this.#parts), this.length).open();
  }
}

async function* chunksOf(parts: readonly (Uint8Array | Blob)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Blob) yield* chunksOfBlob(part);
    else yield part;
  }
}

async function* chunksOfBlob(blob: Blob): AsyncGenerator<Uint8Array> {
  let left = sizeOfBlob(blob);
  for await (const chunk of blob.stream()) {
    yield chunk.length > left ? chunk.subarray(0, left) : chunk;
    left -= chunk.length;
    if (left <= 0) return; // on Bun 1.3 the stream of a slice goes on to the end of what it is a slice of
  }
}
