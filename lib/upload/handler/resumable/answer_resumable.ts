import { fieldOf } from "../../body/body_source.ts";
import { requireOwnSite } from "../cross_site.ts";
import type { UploadRequest } from "../incoming.ts";
import type { Settings } from "../settings.ts";
import { answerDraft, createsByDraft } from "./draft.ts";
import { type Exchange, failed, type Fields, maxSizeOf, type Outcome, sessionIn, uploadLimit } from "./exchange.ts";
import { answerTus, CHECKSUMS, EXTENSIONS, VERSION } from "./tus.ts";

/** The value of `Access-Control-Request-Headers`: names of fields. */
const FIELD_NAMES = /^[!#$%&'*+.^_`|~\w-]+(?: *, *[!#$%&'*+.^_`|~\w-]+)*$/;

const TOLD = "Content-Location, Location, Repr-Digest, Retry-After, Tus-Checksum-Algorithm, Tus-Extension, " +
  "Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Complete, Upload-Concat, Upload-Defer-Length, Upload-Expires, " +
  "Upload-Length, Upload-Limit, Upload-Metadata, Upload-Offset";

/** The time for which browsers may remember what they were allowed, in s: a day, of which Chromium takes 2 hours. */
const PREFLIGHT_MAX_AGE = "86400";

/** Returns the CORS fields for pages of allowed origins, which may send any field, and cookies if they are listed. */
export function corsFields({ allowedOrigins }: Settings, { method, source }: UploadRequest): Fields {
  const origin = fieldOf(source, "origin")?.trim();
  if (origin === undefined || allowedOrigins === false) return {};
  if (allowedOrigins !== true && !allowedOrigins.has(origin.toLowerCase())) return { Vary: "Origin" };
  const isPreflight = method === "OPTIONS" && fieldOf(source, "access-control-request-method") !== undefined;
  const names = fieldOf(source, "access-control-request-headers")?.trim() ?? "";
  return {
    Vary: isPreflight ? "Origin, Access-Control-Request-Headers" : "Origin",
    ...(allowedOrigins !== true && { "Access-Control-Allow-Credentials": "true" }),
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": TOLD,
    ...(isPreflight && {
      "Access-Control-Allow-Methods": "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT",
      ...(FIELD_NAMES.test(names) && { "Access-Control-Allow-Headers": names }),
      "Access-Control-Max-Age": PREFLIGHT_MAX_AGE,
    }),
  };
}

const METHODS: readonly string[] = ["DELETE", "GET", "HEAD", "PATCH"];

/** Returns the effective method: clients without PATCH or DELETE send POST with `X-HTTP-Method-Override`. */
function methodOf({ method, source }: UploadRequest): string {
  if (method !== "POST" || fieldOf(source, "tus-resumable") === undefined) return method;
  return fieldOf(source, "x-http-method-override")?.trim().toUpperCase() ?? method;
}

export function isForSession({ basePath, sessions }: Settings, request: UploadRequest): boolean {
  return sessions !== undefined && sessionIn(request, basePath) !== undefined && METHODS.includes(methodOf(request));
}

/** Answers a request of a protocol for resumable uploads; undefined if it speaks neither. Never rejects. */
export async function answerResumable(exchange: Exchange): Promise<Outcome | undefined> {
  const { settings, request } = exchange;
  const isTus = fieldOf(request.source, "tus-resumable") !== undefined;
  const method = methodOf(request);
  const isForOne = isForSession(settings, request);
  // A request of tus never stores a file by its method alone: its body is upload data.
  const isCreation = isTus ? request.method === "POST" : createsByDraft(settings, request);
  if (!isForOne && !isCreation) return undefined;
  const id = isForOne ? sessionIn(request, settings.basePath) : undefined;
  try {
    requireOwnSite(settings.allowedOrigins, request);
  } catch (error) {
    return failed(exchange, error, isTus ? { "Tus-Resumable": VERSION } : {});
  }
  return isTus ? await answerTus(exchange, method, id) : await answerDraft(exchange, id);
}

/** Returns the fields that announce both protocols in the response to `OPTIONS`. */
export function capabilities(settings: Settings): Fields {
  const maxSize = maxSizeOf(settings);
  return {
    "Tus-Resumable": VERSION,
    "Tus-Version": VERSION,
    "Tus-Extension": EXTENSIONS,
    "Tus-Checksum-Algorithm": CHECKSUMS,
    ...(maxSize !== Infinity && { "Tus-Max-Size": String(maxSize) }),
    "Upload-Limit": uploadLimit(settings, undefined),
  };
}
