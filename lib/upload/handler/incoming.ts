import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { BodySource } from "../body/body_source.ts";

/** A request, from whichever kind of server. */
export interface Incoming {
  readonly method: string;
  /** The target as it came, or what a router left of it. */
  readonly target: string;
  /** The part of the sender's URL before `target`: the path that a router took off, or nothing. */
  readonly mount: string;
  readonly source: Request | IncomingMessage;
}

/** Gives the body of a request that is welcome. @throws {TypeError} if another reader has read it. */
export type OpenBody = () => BodySource;

/** The path of a request without its query, as it came. */
export function pathOf({ target }: Pick<Incoming, "target">): string {
  return target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
}

export function headersOf({ source }: Incoming): Headers {
  if (typeof source.headers.get === "function") return new Headers(source.headers as Headers);
  const headers = new Headers();
  for (const [name, value] of Object.entries(source.headers as IncomingHttpHeaders)) {
    if (name.startsWith(":")) continue; // of HTTP/2, and no field
    for (const line of [value ?? []].flat()) headers.append(name, line);
  }
  return headers;
}

export interface Answer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  /** JSON; undefined if there is no content. */
  readonly body: Uint8Array | undefined;
}

const encoder = new TextEncoder();

export function jsonAnswer(
  status: number,
  type: "application/json" | "application/problem+json",
  fields: Readonly<Record<string, string>>,
  value: unknown,
): Answer {
  const body = encoder.encode(JSON.stringify(value));
  return {
    status,
    // What senders named is in it: no browser should take it for a page.
    fields: { ...fields, "Content-Type": type, "X-Content-Type-Options": "nosniff" },
    body,
  };
}

/**
 * The log entry of a request.
 *
 * @example A line for each request
 * ```ts
 * import { createUploadHandler, type UploadLogEntry } from "@millrace/streams/upload";
 *
 * function log({ method, path, status, bytes }: UploadLogEntry): void {
 *   console.log(method, path, status, bytes); // PUT /note.txt 201 9
 * }
 * const uploads = createUploadHandler({ directory: "uploads", log });
 * await uploads.fetch(new Request("http://localhost/note.txt", { method: "PUT", body: "all of it" }));
 * ```
 */
export interface UploadLogEntry {
  /** The method of the request. */
  readonly method: string;
  /** The path of its URL, as it came, without the query. */
  readonly path: string;
  /** The status of the answer; 499 if the sender left before there was one. */
  readonly status: number;
  /** Bytes of the body that were received, also if nothing of it was kept. */
  readonly bytes: number;
  /** The duration from the request's header to the answer, in ms. */
  readonly ms: number;
  /** The reason of its refusal or failure. Unlike the answer, it may have paths. */
  readonly error?: unknown;
}

/** Prints a warning if a request failed on the server, or its sender left before a response. */
export function warnOfFailures({ method, path, status, bytes, ms, error }: UploadLogEntry): void {
  if (status < 499) return;
  const why = error instanceof Error ? error.message : String(error);
  // What is quoted has no line ends.
  console.warn(`${method} ${path} ${status} after ${Math.round(ms)} ms and ${bytes} bytes: ${JSON.stringify(why)}`);
}

/** Tells `log`; whatever that does, requests go on. */
export function tell(log: (entry: UploadLogEntry) => unknown, entry: UploadLogEntry): void {
  const onFailure = (error: unknown): void => console.warn("log() of the upload handler failed:", error);
  try {
    const telling = log(entry);
    if (telling instanceof Promise) telling.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
