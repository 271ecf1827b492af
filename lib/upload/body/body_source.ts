import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { leftError } from "./upload_error.ts";

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

/** The content codings that the body still has: those of a Response were undone when it was fetched. */
export function codingOf(source: BodySource): string | undefined {
  return source instanceof Response ? undefined : fieldOf(source, "content-encoding");
}

/** Whether the fields of `source` describe other bytes than those that it gives. */
export function isDecoded(source: BodySource): boolean {
  return source instanceof Response && source.headers.has("content-encoding");
}

/** A body, read as fast as it can be written. */
export interface BodyReader {
  /** Whether the read that waits asks its source for nothing until {@linkcode release}, as too much is in use. */
  readonly isHeldBack: boolean;
  /**
   * Reads the bytes that have arrived since: at least one, in pieces; undefined at the end. One call at a time.
   *
   * The pieces are good until {@linkcode release} is called for them, so that one write and one read go on together: at
   * most those of two reads may be waiting for it.
   *
   * @throws {UploadError} with the code `ABORTED` if the sender left, and what {@linkcode cancel} was given.
   */
  read(): Promise<readonly Uint8Array[] | undefined>;
  /** The pieces that were given the longest ago are not used any more: once for each read that gave some. */
  release(): void;
  /** Releases the source; calls of `read()` are rejected. Never rejects itself, and does nothing after the end. */
  cancel(reason: unknown): Promise<void>;
}

/** Calls `take` with each batch of a body while the next is read; a later failure of the other one is ignored. */
export async function takeAll(
  body: BodyReader,
  take: (pieces: readonly Uint8Array[]) => Promise<void>,
): Promise<void> {
  for (let pieces = await body.read(); pieces !== undefined;) {
    const taking = take(pieces);
    const reading = body.read();
    // A sender who leaves ends it, though the destination may be stalled.
    await Promise.race([taking, reading.then(() => taking)]);
    body.release();
    pieces = await reading;
  }
}

/** The properties of a stream's source that its reader depends on. */
export interface StreamTraits {
  /** Whether it comes from the network: its errors are senders who left. */
  readonly isReceived: boolean;
  /** Whether it is left as it is when it is not wanted any more, rather than cancelled. */
  readonly leavesBody: boolean;
  readonly ownsChunks: boolean;
  /** Whether its server reads ahead of the chunks of the body's coding, as {@linkcode ChunkSizedReads} tells. */
  readonly readsAhead: boolean;
}

export function streamFailure(error: unknown, { isReceived }: StreamTraits): unknown {
  return isReceived ? leftError(error) : error;
}

/** Releases a stream that is not read any more. A source may take its time to end: that is not waited for. */
export function letGo(
  reader: ReadableStreamDefaultReader<Uint8Array> | ReadableStreamBYOBReader,
  reason: unknown,
  { leavesBody }: StreamTraits,
): void {
  if (leavesBody) reader.releaseLock();
  else reader.cancel(reason).catch(() => {}); // a later failure of the source is ignored
}

/**
 * Whether the chunks of a readable have no other owner. Those of a request of `node:http` are copies that the parser
 * made, if its connection has no other listeners. (In adapters' requests they are what the caller gave.)
 */
export function isOurs(readable: Readable): boolean {
  const { socket, httpVersionMajor } = readable as { socket?: unknown; httpVersionMajor?: unknown };
  return httpVersionMajor === 1 && socket instanceof Socket && socket.remoteFamily !== undefined &&
    readable.listenerCount("data") <= 1;
}

/** The maximum bytes that an upload holds: larger writes than half of that do not take less time. */
const MOST = 512 * 1024;
/** The minimum bytes: what a socket gives at once. */
const LEAST = 64 * 1024;
/** Bytes that all bodies of one kind may hold at a time: larger writes do not take less time. */
const BUDGET = 16 * 1024 * 1024;

let bodies = 0;

export function holdBytes(): void {
  bodies++;
}

export function releaseBytes(): void {
  bodies--;
}

export function activeBodies(): number {
  return bodies;
}

/** Returns the bytes that a body may hold: its share of all, so that memory hardly grows with the number of uploads. */
export function windowBytes(): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(BUDGET / bodies)));
}
