import { RotatingFileWritable } from "../../files/mod.ts";
import { described, joinBytes } from "../../streams/internal.ts";
import { TimeLimit } from "../../timers/mod.ts";
import type { SaveBodyOptions } from "../body/upload_options.ts";
import { containedPlace, shownName } from "./contained_path.ts";
import { createdObjects } from "./created_object.ts";
import { type BodySink, type FileOptions, openFileSink, shortage } from "./file_sink.ts";

/** Opens a stream to write a body to in batches. The signal ends the wait for a stream that takes no chunks. */
async function openStreamSink(stream: WritableStream<Uint8Array>, signal: AbortSignal | undefined): Promise<BodySink> {
  if (stream.locked) throw new TypeError("cannot write to the stream: it is locked, somebody else writes to it");
  const writer = stream.getWriter();
  let state = writer.desiredSize === null ? "errored" : "writable";
  let cause: unknown;
  writer.closed.then(() => state = "closed", (error) => [state, cause] = ["errored", error]);
  await Promise.resolve(); // a closed or errored stream rejects by then
  if (state !== "writable") {
    writer.releaseLock();
    throw new TypeError(`cannot write to the stream: it is ${state}`, { cause });
  }
  const limit = new TimeLimit(Infinity, signal);
  let isWaiting = false;
  const waitFor = async (promise: Promise<unknown>): Promise<void> => {
    isWaiting = true;
    await limit.within(promise).catch((error) => {
      throw shortage(error) ?? error; // the error of a stream already names its file
    }).finally(() => isWaiting = false);
  };
  const release = (): void => {
    limit.stop();
    writer.releaseLock();
  };
  const chunksOf = stream instanceof RotatingFileWritable ? filling(stream) : joined;
  return {
    async write(pieces): Promise<void> {
      await waitFor(writer.ready);
      await waitFor(Promise.all(chunksOf(pieces).map((chunk) => writer.write(chunk))));
    },
    end: () => Promise.resolve(),
    async commit(made): Promise<void> {
      const created = createdObjects.get(stream);
      if (created !== undefined) made?.push(created);
      // Closing a stream that has failed meanwhile rejects without the reason.
      await waitFor(writer.close().catch((error) => Promise.reject(cause ?? error)));
      release();
    },
    async discard(reason): Promise<void> {
      const isStalled = isWaiting || signal?.aborted;
      const aborted = writer.abort(reason).catch(() => {}); // the failure of the upload is being thrown already
      if (!isStalled) await aborted;
      release();
    },
  };
}

/** Returns a copy, since a stream may keep its chunks. */
function joined(pieces: readonly Uint8Array[]): Uint8Array[] {
  return [joinBytes(pieces, pieces.reduce((sum, { length }) => sum + length, 0))];
}

/** Splits pieces, without copies, so that they fill the files of a series, which never splits a chunk. */
function filling({ maxFileSize, room }: RotatingFileWritable): typeof joined {
  return (pieces) => {
    const chunks: Uint8Array[] = [];
    for (const piece of pieces) {
      for (let start = 0; start < piece.length;) {
        if (room === 0) room = maxFileSize;
        const chunk = piece.subarray(start, start + room);
        chunks.push(chunk);
        start += chunk.length;
        room -= chunk.length;
      }
    }
    return chunks;
  };
}

/**
 * The destination of a body: the path of a file or its `file:` URL, or a writable stream, native or of this package,
 * which is closed at the end, or aborted if the upload fails.
 *
 * Without `root`, a link is followed: its target is replaced, and the new file inherits the permission bits unless
 * `mode` is given. Devices and pipes are refused: `openFileWritable()` of `./files` opens them as streams.
 *
 * @example Split what comes into files of a size
 * ```ts
 * import { RotatingFileWritable } from "@millrace/streams/files";
 * import { type BodyDestination, saveBody } from "@millrace/streams/upload";
 * import { readdir } from "node:fs/promises";
 *
 * const destination: BodyDestination = new RotatingFileWritable({ directory: "parts", maxFileSize: 40_000 });
 * const body = new Uint8Array(100_000);
 * await saveBody(new Request("http://localhost/", { method: "PUT", body }), destination);
 * console.log((await readdir("parts")).length); // 3
 * ```
 */
export type BodyDestination = string | URL | WritableStream<Uint8Array>;

/** @throws {UploadError} if the path leads out of the root, or a file with the name must not be replaced. */
export async function openSink(
  destination: BodyDestination,
  options: FileOptions & Pick<SaveBodyOptions, "signal">,
): Promise<BodySink> {
  if (typeof destination !== "string" && !(destination instanceof URL)) {
    if (typeof destination?.getWriter === "function") return await openStreamSink(destination, options.signal);
    const { write, pipe } = (destination ?? {}) as { write?: unknown; pipe?: unknown };
    const isNodeStream = typeof write === "function" && typeof pipe === "function";
    const found = isNodeStream
      ? "a stream of node:stream; fromNodeWritable() of @millrace/streams/node makes one of it"
      : described(destination);
    throw new TypeError(`the destination must be a path, a file: URL or a WritableStream, not ${found}`);
  }
  const place = containedPlace(destination, options.root);
  const given = typeof destination === "string" ? destination : place.path;
  return await openFileSink(place, shownName(given, options.root as string | undefined), options);
}
