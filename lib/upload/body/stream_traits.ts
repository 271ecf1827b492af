import { leftError } from "./upload_error.ts";

/** The properties of a stream's source that its reader depends on. */
export interface StreamTraits {
  /** Whether it comes from the network: its errors are senders who left. */
  readonly isReceived: boolean;
  /** Whether it is left as it is when nobody wants it any more, rather than cancelled. */
  readonly leavesBody: boolean;
  /** Whether its chunks are nobody else's. */
  readonly ownsChunks: boolean;
  /** Whether its server reads ahead of the chunks of the body's coding, as {@linkcode ChunkSizedReads} tells. */
  readonly readsAhead: boolean;
}

/** Returns the error of the body for an error of its stream. */
export function streamFailure(error: unknown, { isReceived }: StreamTraits): unknown {
  return isReceived ? leftError(error) : error;
}

/** Lets go of a stream that is not read any more. A source may take its time to end: that is not waited for. */
export function letGo(
  reader: ReadableStreamDefaultReader<Uint8Array> | ReadableStreamBYOBReader,
  reason: unknown,
  { leavesBody }: StreamTraits,
): void {
  if (leavesBody) reader.releaseLock();
  else reader.cancel(reason).catch(() => {}); // what the source says to that is of no use any more
}
