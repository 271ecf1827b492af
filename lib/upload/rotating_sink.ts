import type { RotatingFileWritable } from "../files/mod.ts";
import type { BodySink } from "./body_sink.ts";
import { storageFailure } from "./storage_failure.ts";
import { StreamWriter } from "./stream_writer.ts";

/**
 * Opens a series of files to write a body to: cut so that each is filled, since a chunk is never split between two. The
 * series is closed when the body is committed.
 *
 * @param signal Ends the wait for a stream that takes nothing.
 * @throws {TypeError} if the stream is locked, closed or errored.
 */
export async function openRotatingSink(
  stream: RotatingFileWritable,
  signal: AbortSignal | undefined,
): Promise<BodySink> {
  const writer = await StreamWriter.open<Uint8Array | string>(stream, signal);
  const { maxFileSize } = stream;
  let { room } = stream;
  return {
    async write(pieces): Promise<void> {
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
      await writer.write(chunks).catch(fail); // without copies: a write is acknowledged when the system has the bytes
    },
    end: () => Promise.resolve(),
    commit: () => writer.close().catch(fail),
    discard: (reason) => writer.abort(reason),
  };
}

/** What the stream says names its file already. */
function fail(error: unknown): never {
  const { code } = (error ?? {}) as { code?: unknown };
  throw code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG"
    ? storageFailure("save", "", "the upload", error)
    : error;
}
