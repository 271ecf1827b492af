import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import { MOST_BYTES, MOST_MS } from "./lingering.ts";

/** `constants.NGHTTP2_NO_ERROR` of `node:http2`, which takes 25 ms to load where it is not in use anyway. */
const NO_ERROR = 0;

/** Ends an answer whose content is out, and the connection with it, when its sender had time to notice. */
export function endLingering(req: IncomingMessage, res: ServerResponse): void {
  linger(req, res, () => {
    if (!res.writableEnded) res.end();
  });
}

/**
 * Ends the stream of an answer in HTTP/2 when its sender had time to notice; the connection goes on. Some clients take
 * an answer for broken that a reset follows at once.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-8.1-10}
 */
export function resetLingering(req: IncomingMessage, res: ServerResponse): void {
  const { stream } = res as unknown as { stream: ServerHttp2Stream | undefined };
  linger(req, res, () => {
    if (stream && !stream.closed) stream.close(NO_ERROR);
    req.resume(); // what has come already is in the way
  });
}

/**
 * Takes a little of what still comes, and then nothing any more, until the sender ends or leaves, or had its time; then
 * calls `end`.
 */
function linger(req: IncomingMessage, res: ServerResponse, end: () => void): void {
  let bytes = 0;
  const timer = setTimeout(stop, MOST_MS);
  const take = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (bytes >= MOST_BYTES) req.pause();
  };
  function stop(): void {
    clearTimeout(timer);
    req.off("data", take).off("end", stop).off("close", stop);
    res.off("close", stop);
    end();
  }
  req.on("data", take).on("end", stop).on("close", stop);
  res.on("close", stop);
  req.resume();
}
