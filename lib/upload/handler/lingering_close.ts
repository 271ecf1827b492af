import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { constants } from "node:http2";
import { MOST_BYTES, MOST_MS } from "./lingering.ts";

/**
 * Ends an answer whose content is out, when the sender has noticed, and the connection with it: takes a little of what
 * still comes, and then nothing any more, until the sender ends or leaves, or had its time.
 */
export function endLingering(req: IncomingMessage, res: ServerResponse): void {
  let bytes = 0;
  const timer = setTimeout(end, MOST_MS);
  const take = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (bytes >= MOST_BYTES) req.pause();
  };
  function end(): void {
    clearTimeout(timer);
    req.off("data", take).off("end", end).off("close", end);
    res.off("close", end);
    if (!res.writableEnded) res.end();
  }
  req.on("data", take).on("end", end).on("close", end);
  res.on("close", end);
  req.resume();
}

/**
 * Ends the stream of an answer in HTTP/2, as soon as that is out, though its sender still sends; the connection goes on.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.1-10}
 */
export function closeAfterAnswer(req: IncomingMessage, res: ServerResponse): void {
  const { stream } = res as unknown as { stream: ServerHttp2Stream | undefined };
  // The response's own event comes when the stream is closed.
  stream?.once("finish", () => {
    if (!stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    req.resume(); // what has come already is in the way
  });
}
