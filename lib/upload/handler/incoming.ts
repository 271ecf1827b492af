import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from "node:http";
import { LockLostError } from "../../files/internal.ts";
import type { Announced } from "../body/announced.ts";
import { fieldOf } from "../body/body_source.ts";
import { ACCEPTED_CODINGS } from "../body/decoded_body.ts";
import { again, Refusal, UploadError } from "../body/upload_error.ts";

/** The checked header of a request: `admitRequest()` makes it. */
export interface Admission {
  /** The path below the base path, decoded. */
  readonly path: string;
  readonly isForm: boolean;
  readonly announced: Announced;
}

export interface UploadRequest {
  readonly method: string;
  /** The request target, or the part that a router left of it. */
  readonly target: string;
  /** The part of the sender's URL before `target`: the path that a router removed, or the empty string. */
  readonly mount: string;
  readonly source: Request | IncomingMessage;
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

/** The other sites whose pages may upload: all, none, or these origins. */
export type AllowedOrigins = boolean | ReadonlySet<string>;

/** A scheme and a host, with an optional port: `https://app.example:8443`. Applications have their own schemes. */
export const ORIGIN: RegExp = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#\\@]+\/?$/i;

/** Returns the value of the option `allowCrossSite`. @throws {TypeError} if the list of origins is empty. */
export function allowedOrigins(value: boolean | readonly string[]): AllowedOrigins {
  if (typeof value === "boolean") return value;
  if (value.length === 0) {
    throw new TypeError('allowCrossSite is empty: name an origin such as "https://app.example", or use false');
  }
  return new Set(value.map((origin) => {
    const { protocol, host } = new URL(origin); // without the scheme's default port
    return `${protocol}//${host}`.toLowerCase();
  }));
}

/**
 * Refuses requests that a page of another site made a visitor's browser send. Browsers send `Sec-Fetch-Site` to
 * trustworthy origins, and `Origin` to all; other programs send neither.
 */
export function requireOwnSite(allowed: AllowedOrigins, request: UploadRequest): void {
  if (allowed === true) return;
  const origin = fieldOf(request.source, "origin")?.trim().toLowerCase();
  if (!isCrossSite(request, origin)) return;
  if (origin !== undefined && typeof allowed === "object" && allowed.has(origin)) return;
  const page = origin === undefined || origin === "null" ? "a page" : `a page of ${JSON.stringify(origin)}`;
  const hint = "the option allowCrossSite says which may upload";
  throw new Refusal("CROSS_SITE", `The upload comes from ${page}, which is another site: ${hint}`);
}

function isCrossSite(request: UploadRequest, origin: string | undefined): boolean {
  const site = fieldOf(request.source, "sec-fetch-site")?.trim().toLowerCase();
  if (site === "cross-site") return true;
  if (site === "same-origin" || site === "same-site" || site === "none") return false;
  return origin !== undefined && hostNameOf(origin) !== hostNameOf(`http://${authorityOf(request) ?? ""}`);
}

/** Returns the host name of a URL without its port, since another port is the same site; undefined if the text is not a URL. */
function hostNameOf(url: string): string | undefined {
  return ORIGIN.test(url) && URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}

function authorityOf({ source }: UploadRequest): string | undefined {
  if (typeof source.headers.get === "function") {
    const { headers, url } = source as Request;
    return headers.get("host") ?? new URL(url).host; // HTTP/2 has no Host field
  }
  const fields = source.headers as IncomingHttpHeaders;
  return (fields[":authority"] as string | undefined) ?? fields.host;
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
