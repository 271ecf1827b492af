import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { leftError } from "./upload_error.ts";

/**
 * The source of a body: a `Request` (or `Response`), a stream of bytes, native or of this package, or a request of
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

/** Returns a header field that came with the body; undefined if it is missing, as for a bare stream. */
export function fieldOf(source: BodySource, name: string): string | undefined {
  const fields = (source as { headers?: Headers | Record<string, string | string[] | undefined> } | undefined | null)
    ?.headers;
  if (fields === undefined) return undefined;
  if (typeof fields.get === "function") return (fields as Headers).get(name) ?? undefined;
  const value = (fields as Record<string, string | string[] | undefined>)[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/** A body, read at the pace at which it can be written. */
export interface BodyReader {
  /** Whether the pending read pulls no bytes from its source until {@linkcode release}, because too much memory is in use. */
  readonly isPaused: boolean;
  /**
   * Reads the bytes that have arrived: at least one, in pieces that are valid until {@linkcode release}; undefined at
   * the end. One call at a time, and the pieces of at most two may be unreleased.
   *
   * @throws {UploadError} with the code `ABORTED` if the sender left, or the reason of {@linkcode cancel}.
   */
  read(): Promise<readonly Uint8Array[] | undefined>;
  /** Releases the oldest pieces that are still in use. Called once for each read that returned pieces. */
  release(): void;
  /** Releases the source; calls of `read()` are rejected. Never rejects itself, and does nothing after the end. */
  cancel(reason: unknown): Promise<void>;
}

/** Calls `take` with each batch of a body while the next is read; if one of the two fails, a later failure of the other is ignored. */
export async function takeAll(body: BodyReader, take: (pieces: readonly Uint8Array[]) => Promise<void>): Promise<void> {
  for (let pieces = await body.read(); pieces !== undefined;) {
    const taking = take(pieces);
    const reading = body.read();
    // An aborted request ends the upload, even while the destination is stalled.
    await Promise.race([taking, reading.then(() => taking)]);
    body.release();
    pieces = await reading;
  }
}

export interface StreamTraits {
  /** Whether the stream is received from the network, where an error means that the sender has left. */
  readonly isReceived: boolean;
  /** Whether an abandoned stream is left alone instead of being cancelled. */
  readonly leavesBody: boolean;
  readonly ownsChunks: boolean;
  /** Whether its server reads ahead of the chunks of the chunked coding, see {@linkcode ChunkSizedReads}. */
  readonly readsAhead: boolean;
}

export function streamFailure(error: unknown, { isReceived }: StreamTraits): unknown {
  return isReceived ? leftError(error) : error;
}

/** Releases a stream that is no longer read. Its cancellation may take some time, and is not awaited. */
export function cancelQuietly(
  reader: ReadableStreamDefaultReader<Uint8Array> | ReadableStreamBYOBReader,
  reason: unknown,
  { leavesBody }: StreamTraits,
): void {
  if (leavesBody) reader.releaseLock();
  else reader.cancel(reason).catch(() => {}); // a later failure of the source is ignored
}

/** Whether a readable's chunks have no other owner: the parser of `node:http` copies, unless others listen, too. */
export function isOurs(readable: Readable): boolean {
  const { socket, httpVersionMajor } = readable as { socket?: unknown; httpVersionMajor?: unknown };
  return httpVersionMajor === 1 && socket instanceof Socket && socket.remoteFamily !== undefined &&
    readable.listenerCount("data") <= 1;
}

/** The maximum number of bytes that one upload buffers: writes larger than half of that are no faster. */
const MAX_BODY_BUFFER = 512 * 1024;
/** The minimum number of bytes that one upload buffers: the size of one read from a socket. */
const MIN_BODY_BUFFER = 64 * 1024;
/** The number of bytes that all bodies of one kind buffer together: larger writes are no faster. */
const BUDGET = 16 * 1024 * 1024;

export const active = { bodies: 0 };

/** Returns the maximum bytes that one body may buffer: its share, so that memory hardly grows with the number of uploads. */
export function windowBytes(): number {
  return Math.min(MAX_BODY_BUFFER, Math.max(MIN_BODY_BUFFER, Math.floor(BUDGET / active.bodies)));
}
