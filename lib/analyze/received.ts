import { decompress } from "../codecs/mod.ts";
import { formatBytes } from "../quantities/mod.ts";
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
  /** Without its content coding, or why that cannot be undone. */
  readonly content: Content;
  /** The status of the answer to a client that has it already; undefined if no client would ask. */
  readonly statusAgain: number | undefined;
}

/** The bytes of a body without its content coding, or what is wrong with it. */
export type Content = Uint8Array<ArrayBuffer> | { readonly fault: string };

/** Files that unfold to more are not looked into, in bytes. */
const MOST_CONTENT = 64 << 20;

/** Undoes the content coding of a body. */
export async function contentOf(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Promise<Content> {
  let content = bytes;
  for (const coding of contentCodings(headers.get("content-encoding") ?? "").reverse()) {
    if (typeof coding !== "string") return { fault: `its content coding, ${coding.unknown}, is none that is known` };
    try {
      content = await decompress(content, { format: undoableFormats[coding], maxSize: MOST_CONTENT });
    } catch (error) {
      return {
        fault: error instanceof RangeError
          ? `it is ${formatBytes(bytes.length)} that unfold to more than ${formatBytes(MOST_CONTENT)}`
          : `its body cannot be read as ${coding}`,
      };
    }
  }
  return content;
}
