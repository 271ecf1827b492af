import type { BodySink } from "./body_sink.ts";
import { StreamWriter } from "./stream_writer.ts";

/**
 * Opens a stream to write a body to; it is closed when the body is committed, and aborted when it is discarded.
 *
 * @param signal Ends the wait for a stream that takes nothing.
 * @throws {TypeError} if the stream is locked, closed or errored.
 */
export async function openStreamSink(
  stream: WritableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): Promise<BodySink> {
  const writer = await StreamWriter.open(stream, signal);
  return {
    write: (pieces) => writer.write([joined(pieces)]),
    end: () => Promise.resolve(),
    commit: () => writer.close(),
    discard: (reason) => writer.abort(reason),
  };
}

/** A copy, since a stream may keep what it is given. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const bytes = new Uint8Array(length);
  let end = 0;
  for (const piece of pieces) {
    bytes.set(piece, end);
    end += piece.length;
  }
  return bytes;
}
