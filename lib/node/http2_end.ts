import type { EventEmitter } from "node:events";
import type { Writable } from "node:stream";

/** The members of an http2 stream that are used, on either side of a connection. */
export interface Http2End extends EventEmitter {
  readonly destroyed: boolean;
  readonly headRequest?: boolean;
  readonly headersSent: boolean;
  readonly rstCode?: number;
  readonly sentHeaders?: Record<string, unknown>;
  readonly writableEnded: boolean;
}

const WITHOUT_BODY: readonly unknown[] = [204, 205, 304];

/** The http2 stream that a writable is, or, as an Http2ServerResponse, writes to. */
export function http2EndOf(writable: Writable): Http2End | undefined {
  if ("rstCode" in writable) return writable as unknown as Http2End;
  const { stream } = writable as { stream?: unknown };
  return typeof stream === "object" && stream !== null && "rstCode" in stream ? stream as Http2End : undefined;
}

/** Whether a response must have no body. http2 makes an error of writes to such a one, where http drops them. */
export function isWithoutBody(end: Http2End, writable: Writable): boolean {
  if (end.headRequest) return true;
  const sent = end.headersSent ? end.sentHeaders?.[":status"] : undefined;
  return WITHOUT_BODY.includes(sent ?? (writable as { statusCode?: number }).statusCode);
}
