import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";

/**
 * The source of a body: a `Request` (or `Response`), a stream of bytes, native or Millrace's, or a request of
 * `node:http` or `node:http2`.
 *
 * @example Store a download as an upload is stored
 * ```ts
 * import { type BodySource, saveBody } from "@millrace/streams/upload";
 *
 * const source: BodySource = await fetch("https://www.example.com/large");
 * console.log((await saveBody(source, "large.bin", { maxBytes: 10_000_000 })).bytes); // 5000000
 * ```
 */
export type BodySource = Request | Response | ReadableStream<Uint8Array> | IncomingMessage | Http2ServerRequest;

/** A field of the header that came with a body; undefined if there is none, as of a bare stream. */
export function fieldOf(source: BodySource, name: string): string | undefined {
  const fields = (source as { headers?: Headers | Record<string, string | string[] | undefined> } | undefined | null)
    ?.headers;
  if (fields === undefined) return undefined;
  if (typeof fields.get === "function") return (fields as Headers).get(name) ?? undefined;
  const value = (fields as Record<string, string | string[] | undefined>)[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/**
 * The content codings that the body of `source` still has. Those of a Response were undone when it was fetched, and its
 * length and digests are not those of its body then.
 */
export function codingOf(source: BodySource): string | undefined {
  return source instanceof Response ? undefined : fieldOf(source, "content-encoding");
}

/** Whether the fields of `source` tell of other bytes than those that it gives. */
export function isDecoded(source: BodySource): boolean {
  return source instanceof Response && source.headers.has("content-encoding");
}
