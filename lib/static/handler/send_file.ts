import type { IncomingMessage, ServerResponse } from "node:http";
import { type FileReader, PIECE } from "./file_reader.ts";

const INTERNAL_ERROR = 2; // RFC 9113 section 7

/**
 * Sends what `reader` reads as the body of `res`, of which the head is written, and ends it; one that cannot be sent whole is
 * cut. Fulfilled when the file is closed, whatever became of the visitor.
 *
 * Reads one piece while another is being sent, into buffers that are free again once `write()` calls back. Middleware
 * that wraps `write()` may never do that (compression does not): each piece gets a new one then.
 */
export async function sendFile(req: IncomingMessage, res: ServerResponse, reader: FileReader): Promise<void> {
  const free: Uint8Array[] = [];
  let isGone = res.destroyed || res.closed || req.aborted;
  let mayWrite = true;
  let proceed = (): void => {};
  const leave = (): void => {
    isGone = true;
    reader.close();
    proceed();
  };
  const onDrain = (): void => {
    mayWrite = true;
    proceed();
  };
  // On Deno no "close" comes to a response that waits for its turn on a connection, nor to one of http2 that is reset.
  req.on("aborted", leave);
  res.on("close", leave).on("drain", onDrain);
  try {
    while (!isGone && reader.ahead > 0) {
      const buffer = free.pop() ?? new Uint8Array(PIECE);
      const length = await reader.read(buffer);
      if (!mayWrite && !isGone) await new Promise<void>((resolve) => proceed = resolve);
      if (isGone) return;
      mayWrite = res.write(buffer.subarray(0, length), () => free.push(buffer));
    }
    res.end();
  } catch {
    cut(res);
  } finally {
    reader.close();
    req.off("aborted", leave);
    res.off("close", leave).off("drain", onDrain);
  }
}

/** Breaks a response off, so that it does not pass for a whole one. */
function cut(res: ServerResponse): void {
  const { stream } = res as { stream?: { close?: (code: number) => void } };
  if (stream?.close) stream.close(INTERNAL_ERROR);
  else res.destroy();
}
