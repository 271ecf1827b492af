import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from "node:http";
import { LockLostError } from "../../files/internal.ts";
import type { Announced } from "../body/announced.ts";
import type { BodySource } from "../body/body_source.ts";
import { ACCEPTED_CODINGS } from "../body/decoded_body.ts";
import { again, Refusal, UploadError } from "../body/upload_error.ts";

/** The checked header of a request, without which its body cannot be opened: `admitRequest()` makes it. */
export interface Admission {
  /** The path below the base path, decoded. */
  readonly path: string;
  readonly isForm: boolean;
  readonly announced: Announced;
}

/** A request to a server of any kind. */
export interface UploadRequest {
  readonly method: string;
  /** The request target, or the part that a router left of it. */
  readonly target: string;
  /** The part of the sender's URL before `target`: the path that a router removed, or the empty string. */
  readonly mount: string;
  readonly source: Request | IncomingMessage;
  /** Returns the body of an admitted request. @throws {TypeError} if another reader has read it. */
  readonly open: (admission: Admission) => BodySource;
  /** The number of body bytes received so far. */
  bytes: number;
  /** Sends an interim response if the runtime can; returns whether it did. */
  readonly inform?: (status: number, fields: Readonly<Record<string, string>>) => boolean;
}

/** Returns the path of a request without its query, unchanged. */
export function pathOf({ target }: Pick<UploadRequest, "target">): string {
  return target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
}

export function headersOf({ source }: UploadRequest): Headers {
  if (typeof source.headers.get === "function") return new Headers(source.headers as Headers);
  const headers = new Headers();
  for (const [name, value] of Object.entries(source.headers as IncomingHttpHeaders)) {
    if (name.startsWith(":")) continue; // a pseudo-header of HTTP/2
    for (const line of [value ?? []].flat()) headers.append(name, line);
  }
  return headers;
}

export interface Answer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The body in JSON; undefined without content. */
  readonly body: Uint8Array | undefined;
}

const encoder = new TextEncoder();

export function jsonAnswer(status: number, fields: Readonly<Record<string, string>>, value: unknown): Answer {
  const type = status < 300 ? "application/json" : "application/problem+json";
  const body = encoder.encode(JSON.stringify(value));
  // The body quotes names chosen by senders: no browser may render it as a page.
  return { status, fields: { ...fields, "Content-Type": type, "X-Content-Type-Options": "nosniff" }, body };
}

/** Converts an error to a refusal, which contains only information for the sender. */
export function refusalOf(error: unknown, options: { readonly decode?: boolean }): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof UploadError) {
    // `UNSUPPORTED` concerns content codings (RFC 9110, section 15.5.16); refused media types have their own fields.
    const codings = error.code === "UNSUPPORTED" &&
      { "Accept-Encoding": options.decode ? ACCEPTED_CODINGS : "identity" };
    return new Refusal(error.code, error.message, { ...codings }, error);
  }
  if (error instanceof LockLostError) {
    return new Refusal("LOCKED", "Another request has taken the upload over", { "Retry-After": "1" }, error);
  }
  const code = systemCodeOf(error);
  if (code === "EMFILE" || code === "ENFILE") return again("The server has too many files open", error);
  return new Refusal("INTERNAL", "The server could not store the upload", {}, error);
}

export function problemAnswer({ status, code, message, fields, members }: Refusal): Answer {
  const problem = { title: STATUS_CODES[status] ?? code, status, detail: message, code, ...members };
  return jsonAnswer(status, fields, problem);
}

function systemCodeOf(error: unknown): unknown {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return code ?? (cause === undefined ? undefined : systemCodeOf(cause));
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
  /** The path of its URL without the query, unchanged. */
  readonly path: string;
  /** The status of the response; 499 if the sender left before. */
  readonly status: number;
  /** The number of body bytes received, even if none were kept. */
  readonly bytes: number;
  /** The duration in ms from the request's header to the response. */
  readonly ms: number;
  /** The reason of its refusal or failure. Unlike the response, it may contain paths. */
  readonly error?: unknown;
}

/** Prints a warning if a request failed on the server, or its sender left before the response. */
export function warnOfFailures({ method, path, status, bytes, ms, error }: UploadLogEntry): void {
  if (status < 499) return;
  const why = error instanceof Error ? error.message : String(error);
  // Quoted texts contain no line ends.
  console.warn(`${method} ${path} ${status} after ${Math.round(ms)} ms and ${bytes} bytes: ${JSON.stringify(why)}`);
}

/** Calls `log`; an error in it does not fail the request. */
export async function writeLog(log: (entry: UploadLogEntry) => unknown, entry: UploadLogEntry): Promise<void> {
  try {
    await log(entry);
  } catch (error) {
    console.warn("log() of the upload handler failed:", error);
  }
}
