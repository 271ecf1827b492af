import { decompress, decompressSync } from "../codecs/mod.ts";
import type { ReferenceKind } from "../pages/mod.ts";
import { beginsWithData, isReadWhole } from "../precompress/internal.ts";
import { formatBytes } from "../quantities/mod.ts";
import { contentCodings, undoableFormats } from "../semantics/mod.ts";

/** Reads the freshness lifetime of a response (RFC 9111, 4.2.1): `fresh` in seconds, 0 if clients must revalidate each time. */
export function lifetimeOf(headers: Headers): { isStored: boolean; fresh: number; hasValidator: boolean } {
  const directives = new Map<string, string>();
  for (const part of (headers.get("cache-control") ?? "").toLowerCase().split(",")) {
    const [name = "", value = ""] = part.split("=", 2);
    directives.set(name.trim(), value.trim().replace(/^"(.*)"$/, "$1"));
  }
  const hasValidator = headers.has("etag") || headers.has("last-modified");
  return { isStored: !directives.has("no-store"), fresh: freshness(directives, headers), hasValidator };
}

function freshness(directives: ReadonlyMap<string, string>, headers: Headers): number {
  if (directives.has("no-cache") || directives.has("no-store")) return 0;
  const maxAge = directives.get("max-age");
  if (maxAge !== undefined) return /^\d+$/.test(maxAge) ? Number(maxAge) : 0;
  const expires = Date.parse(headers.get("expires") ?? "");
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  return Number.isNaN(expires) ? 0 : Math.max(0, (expires - now) / 1000);
}

/** Encodings by their byte order marks. */
const marks: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];

/** The number of bytes from the start of a file in which browsers look for its encoding. */
const DECLARED_WITHIN = 1024;

/** Decodes a page or a style sheet, by its byte order mark, its field, or its own declaration; otherwise as UTF-8. */
export function textOf(bytes: Uint8Array<ArrayBuffer>, type: string): string {
  const marked = marks.find(([mark]) => mark.every((byte, i) => bytes[i] === byte))?.[1];
  const [, named] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type) ?? [];
  return decoderFor(marked ?? named ?? declaredIn(bytes)).decode(bytes);
}

function declaredIn(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARED_WITHIN));
  const [, inStyle] = /^@charset "([^"]+)";/.exec(start) ?? [];
  const [, inPage] = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s;"'/>]+)/i.exec(start) ?? [];
  const encoding = inStyle ?? inPage;
  // Otherwise the declaration itself would be unreadable.
  return encoding !== undefined && /^utf-?16/i.test(encoding) ? "utf-8" : encoding;
}

/** Returns the decoder of an encoding, or that of UTF-8 if the runtime does not know the encoding. */
function decoderFor(encoding = "utf-8"): TextDecoder {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder();
  }
}

export interface Received {
  readonly url: string;
  readonly kind: ReferenceKind | "page";
  readonly status: number;
  readonly headers: Headers;
  /** The bytes as sent. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes without content coding, or the reason why it cannot be undone. */
  readonly content: Content;
  /** The status of a conditional request; undefined if clients would send none. */
  readonly statusAgain: number | undefined;
}

/** The bytes of a body without its content coding, or its fault. */
export type Content = Uint8Array<ArrayBuffer> | { readonly fault: string };

/** The maximum decoded bytes of files that are analyzed. */
const MAX_CONTENT = 64 << 20;

export async function contentOf(bytes: Uint8Array<ArrayBuffer>, headers: Headers): Promise<Content> {
  let content = bytes;
  for (const coding of contentCodings(headers.get("content-encoding") ?? "").reverse()) {
    if (typeof coding !== "string") return { fault: `its content coding, ${coding.unknown}, is none that is known` };
    try {
      const coded = content;
      content = await decompress(coded, { format: undoableFormats[coding], maxSize: MAX_CONTENT });
      const { length } = content;
      const hasMembers = coding === "gzip" && !isReadWhole(coded, coded, length, decompressSync);
      if (hasMembers && !beginsWithData(coded, decompressSync, length)) { // otherwise further members are empty
        return { fault: "its body has several gzip members, of which browsers decode the first" };
      }
    } catch (error) {
      return {
        fault: error instanceof RangeError
          ? `it is ${formatBytes(bytes.length)} that unfold to more than ${formatBytes(MAX_CONTENT)}`
          : `its body cannot be read as ${coding}`,
      };
    }
  }
  return content;
}
