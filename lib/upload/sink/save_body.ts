import { type Announced, announcedOf, Digester, requireExpected, tellProgress } from "../body/announced.ts";
import { type BodySource, fieldOf, takeAll } from "../body/body_source.ts";
import type { BodySink, FileOptions, StreamTaker } from "./file_sink.ts";
import { formatDigest } from "../../semantics/mod.ts";
import { refuseUnused } from "../../streams/internal.ts";
import { type BodyDestination, openSink } from "./open_sink.ts";
import { receiveBody, type TransferProgress, watchBody } from "../body/receive_body.ts";
import { type InnerOptions, requireDecode, type SaveBodyOptions, saveBodyOptions } from "../body/upload_options.ts";
import { Interval } from "../../timers/mod.ts";
import { writeStream } from "../../runtime/mod.ts";

/**
 * A stored body.
 *
 * @example Answer with the stored length and digest
 * ```ts
 * import { saveBody, type SavedBody } from "@millrace/streams/upload";
 *
 * const told = ({ bytes, digest }: SavedBody): Response =>
 *   new Response(`${bytes} bytes\n`, { status: 201, headers: { "repr-digest": digest! } });
 * const request = new Request("http://localhost/", { method: "PUT", body: "all of it" });
 * const response = told(await saveBody(request, "uploads/note.txt", { digest: "sha-512" }));
 * console.log(response.status, response.headers.get("repr-digest")); // 201 sha-512=:…:
 * ```
 */
export interface SavedBody {
  /** The number of stored bytes. */
  readonly bytes: number;
  /** The requested digest, as a value of `Repr-Digest` (RFC 9530): `sha-256=:…:`. */
  readonly digest?: string;
  /** The absolute path of the file, if the destination is a file. */
  readonly path?: string;
}

/**
 * Stores a body as it arrives, in constant memory. One batch is written while the next, of at most the same size, is
 * received: a slow disk slows the sender down. A file gets its name only when it is complete; a failed upload leaves no
 * file.
 *
 * @param source A `Request`, a stream of bytes, or a request of `node:http` or `node:http2`.
 * @param destination A path, a `file:` URL, or a writable stream, which is closed at the end, or aborted.
 * @returns the number of stored bytes, and their digest with the option `digest`.
 * @throws {UploadError} if the upload is refused or fails, with the HTTP status for it.
 * @throws {TypeError | RangeError} if an argument is invalid, an option has no effect, or the body was read before.
 * @throws {Error} other errors of the file system or the destination, and the signal's reason.
 * @example Store a body under a name from outside
 * ```ts
 * import { saveBody } from "@millrace/streams/upload";
 *
 * const request = new Request("http://localhost/note.txt", { method: "PUT", body: "all of it, or nothing" });
 * const name = new URL(request.url).pathname.slice(1);
 * const options = { root: "uploads", maxBytes: 1_000_000, digest: "sha-256" } as const;
 * const { bytes, digest } = await saveBody(request, name, options);
 * console.log(bytes, digest); // 21 sha-256=:…:
 * ```
 */
export async function saveBody(
  source: BodySource,
  destination: BodyDestination,
  options: SaveBodyOptions = {},
): Promise<SavedBody> {
  const given = saveBodyOptions.check(options);
  requireDecode(given);
  if (typeof destination === "object" && !(destination instanceof URL)) {
    const names = ["root", "overwrite", "mode", "flush"] as const;
    refuseUnused(given, names, "is for files: the destination is a stream", saveBodyOptions());
  }
  return await storeBody(source, destination, given);
}

export async function storeBody(
  source: BodySource,
  destination: BodyDestination,
  options: SaveBodyOptions & InnerOptions & Pick<FileOptions, "claim">,
): Promise<SavedBody> {
  const { digest: algorithm, signal } = options;
  const announced = announcedOf(source, options);
  const unseen = unseenStream(source, announced, options);
  let received = unseen ? undefined : receiveBody(source, options, announced);
  let sink: BodySink | undefined;
  try {
    signal?.throwIfAborted();
    sink = await openSink(destination, options);
    if (unseen && "writeStream" in sink) {
      return await stored(sink, await transfer(unseen, sink as StreamTaker, announced, options), options);
    }
    received ??= receiveBody(source, options, announced);
    const verified = algorithm && received.digests.get(algorithm);
    const digester = algorithm && verified === undefined ? new Digester([algorithm]) : undefined;
    let bytes = 0;
    const target = sink;
    await takeAll(received.body, (pieces) => {
      for (const piece of pieces) bytes += piece.length;
      const writing = target.write(pieces);
      digester?.update(pieces);
      return writing;
    });
    return await stored(sink, bytes, options, verified ?? digester?.finish().get(algorithm!));
  } catch (error) {
    if (received) await received.body.cancel(error);
    else unseen?.cancel(error).catch(() => {}); // a stream that the runtime reads is locked
    await sink?.discard(error);
    throw error;
  }
}

async function stored(
  sink: BodySink,
  bytes: number,
  { digest: algorithm, signal }: SaveBodyOptions,
  digest?: string,
): Promise<SavedBody> {
  await sink.end();
  signal?.throwIfAborted();
  await sink.commit();
  return {
    bytes,
    ...(algorithm && digest && { digest: formatDigest(algorithm, digest) }),
    ...(sink.path !== undefined && { path: sink.path }),
  };
}

/** The interval at which the size of the file is checked, in ms. */
const INTERVAL = 50;

/** Returns a body's stream if the runtime can write it alone: its length is known, and no digest is needed. */
function unseenStream(
  source: BodySource,
  { digests }: Announced,
  { decode, digest, expectedBytes }: SaveBodyOptions,
): ReadableStream<Uint8Array> | undefined {
  const isSeen = decode || digest !== undefined || digests.size > 0 || expectedBytes !== undefined;
  if (writeStream === undefined || isSeen) return undefined;
  if (!(source instanceof Request) || source.bodyUsed || !source.body || source.body.locked) return undefined;
  return fieldOf(source, "content-length") === undefined ? undefined : source.body;
}

/** Writes a stream to a file by the runtime itself: on Bun a tenth of the memory and half of the time. */
export async function transfer(
  stream: ReadableStream<Uint8Array>,
  sink: StreamTaker,
  announced: Announced,
  options: SaveBodyOptions & InnerOptions,
): Promise<number> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const start = performance.now();
  let told = 0;
  const tell = (bytes: number): void => {
    if (bytes !== told) tellProgress(told = bytes, announced, options);
  };
  // All time counts as waiting: while the disk blocks the runtime, the timer cannot fire either.
  const pace: TransferProgress = {
    get bytes() {
      return sink.size();
    },
    get waited() {
      return performance.now() - start;
    },
  };
  const looking = options.onProgress && new Interval(INTERVAL, () => {
    try {
      tell(sink.size());
    } catch (error) {
      stop(error);
    }
  });
  const unwatch = watchBody(options, pace, stop);
  try {
    const bytes = await Promise.race([sink.writeStream(stream), stopped]);
    requireExpected(bytes, announced);
    tell(bytes);
    return bytes;
  } finally {
    looking?.stop();
    unwatch();
  }
}
