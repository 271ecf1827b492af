import { decompress } from "../codecs/mod.ts";
import { contentCodings, undoableFormats } from "../semantics/mod.ts";
import type { ReferenceKind } from "../pages/mod.ts";

/** A file that came. */
export interface Received {
  readonly url: string;
  readonly kind: ReferenceKind | "page";
  readonly status: number;
  readonly headers: Headers;
  /** As it was sent. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Without its content coding; undefined if that cannot be undone. */
  readonly content: Uint8Array<ArrayBuffer> | undefined;
  /** The status of the answer to a client that has it already; undefined if no client would ask. */
  readonly statusAgain: number | undefined;
}

/** Files that unfold to more are not looked into, in bytes. */
const MOST_CONTENT = 64 << 20;

/** Undoes the content coding of a body; undefined if it is unknown or the body is not in it. */
export async function contentOf(
  bytes: Uint8Array<ArrayBuffer>,
  headers: Headers,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let content = bytes;
  for (const coding of contentCodings(headers.get("content-encoding") ?? "").reverse()) {
    if (typeof coding !== "string") return undefined;
    try {
      content = await decompress(content, { format: undoableFormats[coding], maxSize: MOST_CONTENT });
    } catch {
      return undefined;
    }
  }
  return content;
}
